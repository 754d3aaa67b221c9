import MiniRex
import TestSupport
import Testing

/// Random graphs whose parts have many subscribers, which begin and end on several threads.
@Suite(.light) struct SharedPartStormTests {
  @Test func `R16 R36 R37 subscribers of a shared part agree after changes of four threads`() async
  {
    for seed in 0..<UInt64(scaled(20)) {
      let graph = SharedPartStorm(seed: seed)
      for round in 0..<4 {
        for step in 0..<12 {
          graph.change()
          #expect(graph.faults.isEmpty, "seed \(seed), round \(round), step \(step)")
          if !graph.faults.isEmpty { return }
        }
        graph.changeOnThreads()
        await until { graph.faults.isEmpty }
      }
    }
  }
}

private final class SharedPartStorm: Sendable {
  private struct Node: Sendable {
    let selector: Int
    let inputs: [[Int]]
    let modulus: Int

    func value(read: (Int) -> Int) -> Int {
      let choice = read(selector)
      return inputs[choice % inputs.count].reduce(choice) { ($0 * 3 + read($1)) % 1_000 } % modulus
    }
  }

  private struct Reader: Sendable {
    /// A node that most updates read, and a node that some read.
    let nodes: (Int, Int)
    let last: Shared<Int?>
    let subscription: Subscription

    static func value(_ one: Int, _ other: () -> Int) -> Int { one % 4 == 1 ? one + other() : one }
  }

  private let random: Shared<SeededGenerator>
  private let sources: [PublishedProperty<Int>]
  private let nodes: [Node]
  private let values: [PublishedValue<Int>]
  private let readers = Shared<[Reader]>([])

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let sources = (0..<Int.random(in: 2...5, using: &random)).map { PublishedProperty($0) }
    var nodes: [Node] = []
    var values = sources.map(\.publisher)
    for _ in 0..<Int.random(in: 4...25, using: &random) {
      let near = max(0, values.count - 4)..<values.count
      let node = Node(
        selector: Int.random(in: 0..<4, using: &random) == 0
          ? Int.random(in: near, using: &random) : Int.random(in: sources.indices, using: &random),
        inputs: (0..<Int.random(in: 1...3, using: &random)).map { _ in
          (0..<Int.random(in: 1...3, using: &random)).map { _ in
            Int.random(in: near, using: &random)
          }
        }, modulus: Int.random(in: 2...60, using: &random))
      let earlier = values
      let asksAlso = Int.random(in: 0..<10, using: &random) == 0
      var value = PublishedValue.computed { read in
        if asksAlso { _ = earlier[node.selector].current() }
        return node.value { read(earlier[$0]) }
      }
      switch Int.random(in: 0..<12, using: &random) {
      case 0: value = value.removeDuplicates(by: ==)
      case 1: value = value.removeDuplicates()
      case 2: value = value.share()
      default: break
      }
      nodes.append(node)
      values.append(value)
    }
    (self.sources, self.nodes, self.values) = (sources, nodes, values)
    self.random = Shared(random)
    for _ in 0..<12 { subscribe(number(in: 0..<8)) }
  }

  private func number(in range: Range<Int>) -> Int {
    random.change { Int.random(in: range, using: &$0) }
  }

  private func subscribe(_ distance: Int) {
    let nodes = (
      max(0, values.count - 1 - distance % 4), number(in: max(0, values.count - 12)..<values.count)
    )
    let (one, other) = (values[nodes.0], values[nodes.1])
    let value = PublishedValue.computed { read in
      Reader.value(read(one)) { read(other) }
    }
    let last = Shared<Int?>(nil)
    let subscription = value.subscribe { last.value = $0 }
    readers.change { $0.append(Reader(nodes: nodes, last: last, subscription: subscription)) }
  }

  private func cancel() {
    let removed = readers.change { readers in
      readers.count > 3 ? readers.remove(at: 0) : nil
    }
    removed?.subscription.invalidate()
  }

  /// Performs a random step.
  func change() {
    switch number(in: 0..<20) {
    case 0: subscribe(number(in: 0..<8))
    case 1: cancel()
    case 2, 3:
      let (place, value) = (number(in: 0..<sources.count), number(in: 0..<40))
      together { set in
        set(sources[place], to: value)
        set(sources[0], to: value + 1)
      }
    case 4: _ = values[number(in: 0..<values.count)].current()
    default: sources[number(in: 0..<sources.count)].value = number(in: 0..<40)
    }
  }

  func changeOnThreads() {
    onThreads(4) { _ in
      for _ in 0..<30 { self.change() }
    }
  }

  /// The readers whose last value is not the value for the present sources.
  var faults: [String] {
    var present = sources.map(\.value)
    for node in nodes {
      let earlier = present
      present.append(node.value { earlier[$0] })
    }
    return readers.value.compactMap { reader in
      let expected = Reader.value(present[reader.nodes.0]) { present[reader.nodes.1] }
      let received = reader.last.value
      return received == expected
        ? nil : "\(reader.nodes): \(received.map(String.init) ?? "nothing"), not \(expected)"
    }
  }
}
