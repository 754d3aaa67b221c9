import Foundation
import MiniRex
import TestSupport
import Testing

/// Closures, comparisons, subscribers, and values that are released write, cancel, subscribe, and
/// drop inputs while computed values read them.
///
/// AddressSanitizer finds objects that are used after their release.
@Suite(.light) struct ReentrantGraphTests {
  @Test func `R38 R40 user code may write, cancel, and release during a run`() {
    for seed in 0..<UInt64(scaled(40)) {
      let world = ReentrantWorld(seed: seed)
      for _ in 0..<30 { world.step() }
      #expect(world.fault() == nil, "seed \(seed)")
      world.end()
    }
  }

  @Test func `R38 R40 user code may do so on several threads`() {
    for seed in 0..<UInt64(scaled(15)) {
      let world = ReentrantWorld(seed: seed)
      onThreads(3) { _ in for _ in 0..<30 { world.step() } }
      #expect(world.fault() == nil, "seed \(seed)")
      world.end()
    }
  }
}

/// A value whose comparison and release call user code.
private struct Item: Sendable, Equatable {
  final class Content: Sendable {
    let number: Int
    private let world: ReentrantWorld?

    init(_ number: Int, _ world: ReentrantWorld? = nil) {
      self.number = number
      self.world = world
    }

    deinit { world?.actDuringRun() }
  }

  let content: Content
  var number: Int { content.number }
  let onCompare: (@Sendable () -> Void)?

  init(content: Content, _ onCompare: (@Sendable () -> Void)? = nil) {
    self.content = content
    self.onCompare = onCompare
  }

  static func == (left: Item, right: Item) -> Bool {
    left.onCompare?()
    return left.number == right.number
  }
}

private final class ReentrantWorld: Sendable {
  private typealias Value = PublishedValue<Item>

  private let random: Shared<SeededGenerator>
  /// The number of actions that user code may still take in this step.
  private let budget = Shared(0)
  private let inputs = Shared([PublishedProperty<Item>]())
  private let nodes = Shared([Value]())
  private let subscriptions = Shared([Subscription]())

  init(seed: UInt64) {
    random = Shared(SeededGenerator(seed: seed))
    inputs.value = (0..<6).map { _ in PublishedProperty(item()) }
    for index in 0..<12 { nodes.append(node(index)) }
    for index in [3, 7, 11, 11] { subscribe(to: nodes.value[index]) }
  }

  func step() {
    budget.change { $0 = max($0, 0) + 6 }
    perform(below(7))
    if let node = pick(nodes.value) { _ = node.current() }
  }

  /// Called by subscribers.
  func act() {
    let isDuringRun = Thread.current.threadDictionary["run"] != nil
    if budget.increment(by: -1) < 0 { return }
    perform(isDuringRun ? 2 + below(3) : below(5))
  }

  /// Called by code that may run inside a computed value.
  ///
  /// It writes nothing, because a subscriber may need the value of the run in progress.
  func actDuringRun() {
    let isNested = Thread.current.threadDictionary["run"] != nil
    Thread.current.threadDictionary["run"] = true
    act()
    if !isNested { Thread.current.threadDictionary["run"] = nil }
  }

  /// Returns a value that is not up to date.
  func fault() -> String? {
    for (index, node) in nodes.value.enumerated() {
      let value = node.current()?.number
      let again = node.map { $0 }.current()?.number
      if value != again { return "\(index): \(value ?? -1), \(again ?? -1)" }
    }
    return nil
  }

  func end() {
    budget.value = -1_000_000
    for subscription in subscriptions.value { subscription.invalidate() }
    subscriptions.value = []
    nodes.value = []
    inputs.value = []
  }

  private func perform(_ action: Int) {
    switch action {
    case 0: pick(inputs.value)?.value = item()
    case 1:
      // Released after the mutation, because its release may write the same property.
      var old: Item?
      let new = item()
      pick(inputs.value)?.modify {
        old = $0
        $0 = new
      }
      withExtendedLifetime(old) {}
    case 2: pick(subscriptions.value)?.invalidate()
    case 3: replaceInput()
    case 4:
      let inputs = inputs.value.map(\.publisher)
      subscribe(
        to: .computed { read in inputs.reduce(into: nil) { $0 = read($1) } ?? read(inputs[0]) })
    case 5:
      let index = below(12)
      let new = node(index)
      let old = nodes.change { nodes -> Value? in
        if nodes.count <= index { return nil }
        defer { nodes[index] = new }
        return nodes[index]
      }
      withExtendedLifetime(old) {}
    default: pick(nodes.value).map { subscribe(to: $0) }
    }
  }

  private func replaceInput() {
    let new = PublishedProperty(item())
    let index = below(6)
    let old = inputs.change { inputs -> PublishedProperty<Item>? in
      if inputs.count <= index { return nil }
      defer { inputs[index] = new }
      return inputs[index]
    }
    withExtendedLifetime(old) {}
  }

  private func subscribe(to value: Value) {
    subscriptions.append(value.subscribe { [weak self] _ in self?.act() })
  }

  /// Returns a computed value that reads up to 1,000 values, some of them several times.
  private func node(_ index: Int) -> Value {
    let inputs = inputs.value.map(\.publisher)
    let lower = Array(nodes.value.prefix(index))
    let counts = [0, 1, 2, 3, 9, index == 2 ? 1_000 : 17]
    return .computed { [weak self] read in
      if index % 4 == 3 { self?.actDuringRun() }
      let first = read(inputs[index % 6]).number
      var sum = first
      for step in 0..<counts[first % 6] {
        sum += read(inputs[(first + step) % 6]).number
        if lower.count > 0, step < 9 { sum += read(lower[(first + step) % lower.count]).number }
      }
      if index % 5 == 4 { self?.actDuringRun() }
      return Item(content: .init(sum % 1_000))
    }
  }

  private func item() -> Item {
    let isHooked = below(3) == 0
    return Item(content: .init(below(50), isHooked ? self : nil)) { [weak self] in
      if isHooked { self?.actDuringRun() }
    }
  }

  private func below(_ count: Int) -> Int {
    random.change { Int.random(in: 0..<count, using: &$0) }
  }

  private func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
