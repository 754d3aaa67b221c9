import MiniRex
import TestSupport
import Testing

/// Random graphs of computed values, beside a simple model that runs on one thread.
@Suite(.light) struct ComputedGraphTests {
  /// In a process of its own, because writes of other tests move the change clock.
  @Test func `R34 R35 R36 runs and emissions equal a model's in random graphs`() async {
    await #expect(processExitsWith: .success) { compareRandomGraphs(500) }
  }

  /// Many subscribers and changes, so that indexes collapse and expand the parts that they share.
  @Test func `R36 R43 runs equal a model's in shared parts`() async {
    await #expect(processExitsWith: .success) { compareRandomGraphs(200, steps: 200, shared: true) }
  }

  @Test func `R43 R36 runs equal a model's although another change is in delivery`() async {
    await #expect(processExitsWith: .success) {
      await whileAChangeIsDelivered { compareRandomGraphs(200) }
    }
  }

  @Test func `R16 R36 R37 random graphs agree with their sources after writes of four threads`()
    async
  {
    await compareAfterWrites()
  }

  @Test func `R16 R36 R37 random graphs agree although another change is in delivery`() async {
    await whileAChangeIsDelivered { await compareAfterWrites() }
  }

  private func compareAfterWrites() async {
    for seed in 0..<UInt64(scaled(15)) {
      var random = SeededGenerator(seed: seed)
      let program = GraphProgram(using: &random)
      let graph = ComputedGraph(program, sharing: true)
      let faults = graph.write(onThreads: 4, seed: seed)
      #expect(faults.isEmpty, "seed \(seed)")
      await until { graph.lastValues == graph.expectedValues }
      #expect(graph.currentValues == graph.expectedValues, "seed \(seed)")
      if !faults.isEmpty { return }
    }
  }
}

/// - Parameter shared: `true` if subscribers stay.
private func compareRandomGraphs(_ count: Int, steps: Int = 40, shared: Bool = false) {
  for seed in 0..<UInt64(scaled(count)) {
    var random = SeededGenerator(seed: seed)
    let program = GraphProgram(using: &random)
    let graph = ComputedGraph(program)
    let model = GraphModel(program)
    for _ in 0..<steps {
      let step = program.step(using: &random)
      if shared, case .cancel = step, Int.random(in: 0..<8, using: &random) > 0 { continue }
      graph.perform(step)
      model.perform(step)
      guard graph.log.value == model.log else {
        let (found, expected) = (graph.log.value, model.log)
        let keys = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
        Issue.record(
          "seed \(seed), \(step): \(keys.map { "\($0): \(found[$0] ?? 0), not \(expected[$0] ?? 0)" })"
        )
        return
      }
    }
  }
}

private enum GraphStep: Sendable {
  case set([Int: Int])
  case read(Int)
  /// With changes that the callback makes inside `subscribe`.
  case subscribe(Int, writing: [Int: Int])
  case cancel(Int)
}

/// The nodes: sources first, then computed values, each of which reads earlier nodes.
private struct GraphProgram: Sendable {
  struct Node: Sendable {
    let selector: Int
    let even: [Int]
    let odd: [Int]
    let modulus: Int
  }

  let sourceCount: Int
  let nodes: [Node]

  init(using random: inout SeededGenerator) {
    let sourceCount = Int.random(in: 1...4, using: &random)
    let count = Int.random(in: 1...Int.random(in: 1...30, using: &random), using: &random)
    self.sourceCount = sourceCount
    nodes = (0..<count).map { index in
      let known = 0..<sourceCount + index
      let inputs = (0..<3).map { _ in
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Int.random(in: known, using: &random)
        }
      }
      return Node(
        selector: Int.random(in: known, using: &random), even: inputs[0], odd: inputs[1],
        modulus: Int.random(in: 2...9, using: &random))
    }
  }

  func step(using random: inout SeededGenerator) -> GraphStep {
    let node = sourceCount + Int.random(in: 0..<nodes.count, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let write = [
        Int.random(in: 0..<sourceCount, using: &random): Int.random(in: 0..<9, using: &random)
      ]
      return .subscribe(node, writing: Bool.random(using: &random) ? write : [:])
    case 1: return .cancel(node)
    case 2, 3: return .read(node)
    default:
      let count = Int.random(in: 0..<5, using: &random) == 0 ? 2 : 1
      let writes = (0..<count).map { _ in
        (Int.random(in: 0..<sourceCount, using: &random), Int.random(in: 0..<9, using: &random))
      }
      return .set(Dictionary(writes) { $1 })
    }
  }

  /// Computes a node from the values that it reads, in the order of the reads.
  func value(of index: Int, read: (Int) -> Int) -> Int {
    let node = nodes[index - sourceCount]
    let selector = read(node.selector)
    let inputs = selector.isMultiple(of: 2) ? node.even : node.odd
    return inputs.reduce(selector) { $0 + read($1) } % node.modulus
  }
}

private enum GraphEvent: Hashable, Sendable {
  case run(Int)
  case value(Int, Int)
}

private typealias GraphLog = [GraphEvent: Int]

/// The graph of the library.
private final class ComputedGraph {
  let log = Shared(GraphLog())
  private let sources: [PublishedProperty<Int>]
  private var values: [PublishedValue<Int>]
  private var subscriptions: [Int: Subscription] = [:]

  private let program: GraphProgram

  /// - Parameter sharing: `true` if each fifth node is the result of `share`, which does not count
  ///   its changes.
  init(_ program: GraphProgram, sharing: Bool = false) {
    self.program = program
    sources = (0..<program.sourceCount).map { PublishedProperty($0) }
    values = sources.map(\.publisher)
    for index in program.nodes.indices {
      let (node, earlier, log) = (index + program.sourceCount, values, log)
      values.append(
        .computed { read in
          log.change { $0[.run(node), default: 0] += 1 }
          return program.value(of: node) { read(earlier[$0]) }
        })
      if sharing, node.isMultiple(of: 5) { values[node] = values[node].share() }
    }
  }

  func perform(_ step: GraphStep) {
    switch step {
    case .set(let writes) where writes.count == 1:
      for (source, value) in writes { sources[source].value = value }
    case .set(let writes):
      together { set in
        for (source, value) in writes { set(sources[source], to: value) }
      }
    case .read(let node):
      if let value = values[node].current() { record(node, value) }
    case .subscribe(let node, let writes):
      if subscriptions[node] != nil { return }
      let isFirst = Shared(true)
      subscriptions[node] = values[node].subscribe { [log, sources] value in
        log.change { $0[.value(node, value), default: 0] += 1 }
        if !isFirst.value { return }
        isFirst.value = false
        for (source, value) in writes { sources[source].value = value }
      }
    case .cancel(let node):
      subscriptions[node] = nil
    }
  }

  private func record(_ node: Int, _ value: Int) {
    log.change { $0[.value(node, value), default: 0] += 1 }
  }

  // MARK: Several threads

  private let last = Shared([Int: Int]())

  /// The last updates of the nodes.
  var lastValues: [Int?] { values.indices.map { last.value[$0] } }

  var currentValues: [Int?] { values.map { $0.current() } }

  /// What the nodes are for the present values of the sources.
  var expectedValues: [Int?] {
    var known = sources.map(\.value)
    for _ in program.nodes {
      known.append(program.value(of: known.count) { known[$0] })
    }
    return known
  }

  /// Subscribes to all nodes, writes and reads on several threads, and returns repeated updates.
  func write(onThreads count: Int, seed: UInt64) -> [Int] {
    let faults = Shared([Int]())
    for (node, value) in values.enumerated() {
      let writes = Shared(3)
      subscriptions[node] = value.subscribe { [last, faults, sources] value in
        let previous = last.change { $0.updateValue(value, forKey: node) }
        if previous == value { faults.change { $0.append(node) } }
        let mayWrite = writes.change { writes in
          writes -= 1
          return writes >= 0
        }
        if mayWrite { sources[node % sources.count].value = value &+ 1 }
      }
    }
    onThreads(count) { [sources, values] index in
      var random = SeededGenerator(seed: seed &* 31 &+ UInt64(index))
      for _ in 0..<50 {
        let written = Int.random(in: 0..<9, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: _ = values.randomElement(using: &random)?.current()
        case 2: together { set in for source in sources { set(source, to: written) } }
        default: sources.randomElement(using: &random)?.value = written
        }
      }
    }
    return faults.value
  }
}

/// A memory of each node: its value, and the values that it read.
private final class GraphModel {
  private(set) var log: GraphLog = [:]
  private let program: GraphProgram
  private var sources: [Int]
  private var results: [Int: (value: Int, reads: [(node: Int, value: Int)])] = [:]
  private var subscribed: [Int: Int] = [:]

  init(_ program: GraphProgram) {
    self.program = program
    sources = Array(0..<program.sourceCount)
  }

  func perform(_ step: GraphStep) {
    switch step {
    case .set(let writes):
      for (source, value) in writes { sources[source] = value }
      for node in subscribed.keys {
        let value = value(of: node)
        if subscribed[node] != value { emit(node, value) }
      }
    case .read(let node):
      log[.value(node, value(of: node)), default: 0] += 1
    case .subscribe(let node, let writes):
      if subscribed[node] != nil { return }
      emit(node, value(of: node))
      if !writes.isEmpty { perform(.set(writes)) }
    case .cancel(let node):
      subscribed[node] = nil
    }
  }

  private func emit(_ node: Int, _ value: Int) {
    subscribed[node] = value
    log[.value(node, value), default: 0] += 1
  }

  private func value(of node: Int) -> Int {
    if node < program.sourceCount { return sources[node] }
    if let result = results[node], result.reads.allSatisfy({ value(of: $0.node) == $0.value }) {
      return result.value
    }
    var reads: [(Int, Int)] = []
    log[.run(node), default: 0] += 1
    let result = program.value(of: node) { read in
      let value = value(of: read)
      reads.append((read, value))
      return value
    }
    results[node] = (result, reads)
    return result
  }
}
