import TestSupport
import Testing

@testable import MiniRex

/// A pass counts the dependencies that it compares, so these tests do not depend on time.
@Suite(.light) struct InspectionCountTests {
  /// In a separate process, because writes of other tests move the change clock.
  @Test func `R43 no other graph slows it`() async {
    await #expect(processExitsWith: .success) {
      let tree = Tree(of: 1_000)
      let alone = tree.inspections(of: 450)
      // Three values follow from a change, and each compares one dependency before it runs.
      #expect(alone <= 450 * 3)
      await whileAChangeIsDelivered {
        // The search for an instant of all sources takes O(1) per change.
        #expect(tree.inspections(of: 450) <= 450 * 3 + 450 + 1_000)
      }
      #expect(tree.last.value == tree.sum)
      tree.subscription.invalidate()
    }
  }

  @Test func `R43 a subscriber compares nothing below the results that it shares`() async {
    await #expect(processExitsWith: .success) {
      let head = PublishedProperty(0)
      var last = head.publisher
      for _ in 0..<20 { last = .computed { [last] read in read(last) + 1 } }
      let values = (0..<50).map { [last] number in
        LiveInputs(of: node { read in read(last) + number })
      }
      let sum = Shared(0)
      let subscriptions = values.map { values in
        values.subscribe { result in sum.change { $0 += result.value(of: Int.self) } }
      }
      let before = values.map(\.index.inspectedCount)
      sum.value = 0
      head.value = 1
      #expect(sum.value == 50 * 21 + (0..<50).reduce(0, +))
      let compared = zip(values, before).map { $0.index.inspectedCount - $1 }
      #expect(compared[0] == 21)
      #expect(compared.dropFirst().allSatisfy { $0 == 1 })
      for subscription in subscriptions { subscription.invalidate() }
    }
  }
}

func node(
  _ compute: @escaping @Sendable (inout ValueReader) -> Int
) -> ComputedNode {
  ComputedNode(ComputedLabel(nil, #fileID, #line), ChangeTest<Int>(), compute: compute)
}

/// A subscribed sum of properties, by layers of ten.
private final class Tree: Sendable {
  let last = Shared(0)
  let subscription: Subscription
  private let sources: [PublishedProperty<Int>]
  private let values: LiveInputs
  private let next = Shared(0)

  init(of count: Int) {
    sources = (0..<count).map { PublishedProperty($0) }
    var level = sources.map(\.publisher)
    while level.count > 10 {
      level = stride(from: 0, to: level.count, by: 10).map { start in
        let part = level[start..<start + 10]
        return .computed { read in part.reduce(0) { $0 + read($1) } }
      }
    }
    values = LiveInputs(of: node { [level] read in level.reduce(0) { $0 + read($1) } })
    subscription = values.subscribe { [last] in last.value = $0.value(of: Int.self) }
  }

  var sum: Int { sources.map(\.value).reduce(0, +) }

  /// The number of comparisons after some changes.
  func inspections(of changes: Int) -> Int {
    let before = values.index.inspectedCount
    for _ in 0..<changes {
      let value = next.increment()
      sources[value % sources.count].value = value + sources.count
    }
    return values.index.inspectedCount - before
  }
}
