import MiniRex
import TestSupport
import Testing

/// Random graphs whose parts have many subscribers, beside the plain evaluation of their nodes.
///
/// Values often remain equal, and dependencies change, so an equal result may be kept although the values below it have
/// changed.
@Suite(.light) struct SharedPartTests {
  /// In a separate process, because writes of other tests move the change clock.
  @Test func `R34 R36 R37 a shared part runs once and gives each reader each value once`() async {
    await #expect(processExitsWith: .success) {
      for seed in 0..<UInt64(scaled(200)) {
        if let fault = SharedPart(seed: seed).fault() {
          Issue.record("seed \(seed): \(fault)")
          return
        }
      }
    }
  }
}

/// A computed value, or an operator on other nodes.
private struct PartNode: Sendable {
  enum Form { case sum, limited, latest, mapped, combined }

  let form: Form
  let selector: Int?
  /// The inputs, by the value of the selector.
  let inputs: [[Int]]
  /// Inputs that are read or not by the sum of `inputs`.
  let latest: [Int]
  let modulus: Int

  func value(read: (Int) -> Int) -> Int {
    switch form {
    case .mapped: return mapped(read(latest[0]))
    case .combined: return combined(read(latest[0]), read(latest[1]))
    case .sum, .limited, .latest:
      let choice = selector.map(read) ?? 0
      var sum = inputs[choice % inputs.count].reduce(choice) { ($0 * 3 + read($1)) % 1_000 }
      if form == .limited { return min(sum, modulus) }
      if form == .latest, sum % 5 == 2 { sum += latest.reduce(0) { $0 + read($1) } }
      return sum % (modulus * 7)
    }
  }

  func mapped(_ value: Int) -> Int { (value * 3 + 1) % modulus }

  func combined(_ one: Int, _ other: Int) -> Int { (one + 2 * other) % modulus }
}

private final class SharedPart {
  private struct Subscriber {
    let node: Int
    let received: Shared<[Int]>
    let subscription: Subscription
    var last: Int?
  }

  private var random: SeededGenerator
  private let flagCount: Int
  private let sources: [PublishedProperty<Int>]
  private var nodes: [PartNode] = []
  private var values: [PublishedValue<Int>]
  private let runs = Shared<[Int: Int]>([:])
  private var subscribers: [Subscriber] = []
  private let overtaking = [PublishedProperty(0), PublishedProperty(0)]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    flagCount = Int.random(in: 0...2, using: &random)
    let sourceCount = flagCount + Int.random(in: 1...4, using: &random)
    sources = (0..<sourceCount).map { PublishedProperty($0) }
    values = sources.map(\.publisher)
    let limit = Int.random(in: 0..<3, using: &random) == 0 ? 60 : 20
    let isChain = Bool.random(using: &random)
    let hasOperators = Bool.random(using: &random)
    for _ in 0..<Int.random(in: 1...limit, using: &random) {
      let node = makeNode(isChain: isChain, hasOperators: hasOperators)
      values.append(value(of: node, at: nodes.count))
      nodes.append(node)
    }
  }

  private func makeNode(isChain: Bool, hasOperators: Bool) -> PartNode {
    let isOperator = hasOperators && Int.random(in: 0..<4, using: &random) == 0
    let forms: [PartNode.Form] =
      isOperator ? [.mapped, .combined] : [.sum, .sum, .sum, .limited, .limited, .latest]
    let form = forms[Int.random(in: forms.indices, using: &random)]
    var selector: Int?
    switch Int.random(in: 0..<5, using: &random) {
    case 0: selector = input(isChain)
    case 1, 2: selector = flagCount > 0 ? Int.random(in: 0..<flagCount, using: &random) : nil
    default: break
    }
    let choices = selector == nil ? 1 : Int.random(in: 1...3, using: &random)
    return PartNode(
      form: form, selector: selector,
      inputs: (0..<choices).map { _ in
        (0..<Int.random(in: 1...4, using: &random)).map { _ in input(isChain) }
      },
      latest: (0..<Int.random(in: 2...3, using: &random)).map { _ in input(isChain) },
      modulus: Int.random(in: 2...10, using: &random))
  }

  /// Returns an earlier node, which is usually near in a chain.
  private func input(_ isChain: Bool) -> Int {
    let isNear = isChain && Int.random(in: 0..<3, using: &random) > 0
    let first = isNear ? max(0, values.count - 3) : 0
    return Int.random(in: first..<values.count, using: &random)
  }

  private func value(of node: PartNode, at index: Int) -> PublishedValue<Int> {
    let earlier = values
    switch node.form {
    case .mapped: return earlier[node.latest[0]].map { node.mapped($0) }
    case .combined:
      return combineLatest(earlier[node.latest[0]], earlier[node.latest[1]]) {
        node.combined($0, $1)
      }
    case .sum, .limited, .latest:
      return .computed { [runs] read in
        runs.change { $0[index, default: 0] += 1 }
        return node.value { read(earlier[$0]) }
      }
    }
  }

  /// Returns the first difference from the evaluation of all nodes, or `nil`.
  func fault() -> String? {
    let limit = Int.random(in: 0..<3, using: &random) == 0 ? 50 : 8
    let maximum = Int.random(in: 1...limit, using: &random)
    let churn = Int.random(in: 2..<60, using: &random)
    let flagRate = Int.random(in: 3..<40, using: &random)
    for step in 0..<Int.random(in: 60..<260, using: &random) {
      runs.value = [:]
      let change = perform(maximum, churn, flagRate)
      let present = presentValues
      for index in subscribers.indices {
        let (node, value) = (subscribers[index].node, present[subscribers[index].node])
        let received = subscribers[index].received.value
        let expected = subscribers[index].last == value ? [] : [value]
        if received != expected {
          return "step \(step), \(change): node \(node) received \(received), not \(expected)"
        }
        subscribers[index].received.value = []
        subscribers[index].last = value
      }
      if let run = runs.value.first(where: { $0.value > 1 }) {
        return "step \(step), \(change): node \(sources.count + run.key) ran \(run.value) times"
      }
    }
    return nil
  }

  private var presentValues: [Int] {
    nodes.reduce(into: sources.map(\.value)) { known, node in
      let earlier = known
      known.append(node.value { earlier[$0] })
    }
  }

  /// Performs a random step, and returns its description.
  private func perform(_ maximum: Int, _ churn: Int, _ flagRate: Int) -> String {
    let choice = Int.random(in: 0..<100, using: &random)
    if subscribers.isEmpty || choice < churn && subscribers.count < maximum {
      let isLast = Int.random(in: 0..<3, using: &random) > 0
      let first = isLast ? max(0, nodes.count - 4) : 0
      let node = sources.count + Int.random(in: first..<nodes.count, using: &random)
      let received = Shared<[Int]>([])
      let subscription = values[node].subscribe { value in received.change { $0.append(value) } }
      subscribers.append(
        Subscriber(node: node, received: received, subscription: subscription, last: nil))
      return "subscribe to \(node)"
    }
    if choice < churn, Int.random(in: 0..<3, using: &random) == 0 {
      let isOldest = Bool.random(using: &random)
      let index = isOldest ? 0 : Int.random(in: subscribers.indices, using: &random)
      subscribers.remove(at: index).subscription.invalidate()
      return "cancel"
    }
    if choice > 97 { return readOvertaken() }
    if choice > 95 { return read(Int.random(in: values.indices, using: &random)) }
    if choice > 90 {
      let places = [sources.indices, sources.indices].map { Int.random(in: $0, using: &random) }
      let new = [0, 0].map { _ in Int.random(in: 0..<30, using: &random) }
      together { set in
        for (place, value) in zip(places, new) { set(sources[place], to: value) }
      }
      return "set \(places) to \(new)"
    }
    let isFlag = flagCount > 0 && Int.random(in: 0..<flagRate, using: &random) == 0
    let place = Int.random(in: isFlag ? 0..<flagCount : flagCount..<sources.count, using: &random)
    let isEqual = Int.random(in: 0..<12, using: &random) == 0
    let new = Int.random(in: 0..<(isFlag ? 4 : 40), using: &random)
    sources[place].value = isEqual ? sources[place].value : new
    return "set \(place) to \(sources[place].value)"
  }

  private func read(_ node: Int) -> String {
    let (found, expected) = (values[node].current(), presentValues[node])
    #expect(found == expected)
    return "read \(node)"
  }

  /// Reads nodes, and changes other sources between the reads, so that the run reads an earlier instant.
  private func readOvertaken() -> String {
    let places = (0..<Int.random(in: 2...5, using: &random)).map { _ in
      Int.random(in: values.indices, using: &random)
    }
    let list = PublishedValue.computed { [values, overtaking] read in
      places.enumerated().map { position, place in
        if position == 0 { _ = read(overtaking[0]) }
        let value = read(values[place])
        if position == 0 {
          for source in overtaking { source.value += 1 }
          _ = read(overtaking[1])
        }
        return value
      }
    }
    let (found, present) = (list.current(), presentValues)
    #expect(found == places.map { present[$0] }, "\(places)")
    runs.value = [:]
    return "read \(places)"
  }
}
