import Synchronization
import TestSupport
import Testing

@testable import MiniRex

/// The invariants of the index of a subscription, between its passes.
@Suite(.light) struct DependencyIndexTests {
  /// Changes random graphs, whose reads depend on values.
  ///
  /// The index is inspected at each emission, while other threads write, and at rest.
  private func inspectRandomGraphs(_ inspect: @escaping @Sendable (Inspection) -> Bool) async {
    for seed in 0..<UInt64(scaled(20)) {
      let graph = RandomGraph(seed)
      let (faults, emissions) = (Shared(0), Shared(0))
      let subscription = graph.inputs.subscribe { _ in
        emissions.increment()
        if !inspect(Inspection(graph)) { faults.increment() }
      }
      onThreads(2) { thread in
        var random = SeededGenerator(seed: seed &* 2 + UInt64(thread))
        for _ in 0..<100 { graph.change(with: &random) }
      }
      await until { graph.isAtRest }
      #expect(inspect(Inspection(graph)), "seed \(seed)")
      #expect(faults.value == 0 && emissions.value > 1, "seed \(seed)")
      subscription.invalidate()
    }
  }

  @Test func `I1 every entry but the root has a link from its reader`() async {
    await inspectRandomGraphs { graph in
      graph.entries.allSatisfy { id in
        (id == graph.root) == graph.links(of: id).isEmpty
          && graph.links(of: id).allSatisfy { graph.children(of: $0.reader)[Int($0.slot)] == id }
          && graph.children(of: id).enumerated().allSatisfy { slot, child in
            graph.links(of: child).count { $0.reader == id && $0.slot == slot } == 1
          }
      }
    }
  }

  @Test func `I2 every result was computed from the values of the children`() async {
    await inspectRandomGraphs { graph in
      graph.index.values.values.allSatisfy { id in
        guard graph.table[id].phase == .clean, let result = graph.table[id].result else {
          return false
        }
        let children = graph.children(of: id)
        return withExtendedLifetime(result) {
          result.dependencies.count == children.count
            && zip(children, result.dependencies).allSatisfy { child, dependency in
              graph.table[child].identity == dependency.identity
                && graph.table[child].isEqual(to: dependency)
                && !graph.table[child].hasMoved(since: dependency)
            }
        }
      }
    }
  }

  /// The reader keeps its result, because all children are equal, but it depends on another source now.
  @Test func `I2 a reader depends on the sources that its first child has found`() {
    let (isOther, one, other) = (
      PublishedProperty(false), PublishedProperty(0), PublishedProperty(0)
    )
    let found = PublishedValue.computed { read in
      read(isOther.publisher) ? read(other.publisher) : read(one.publisher)
    }
    // Also affected, so the reader waits for it after it has compared the first child.
    let equal = PublishedValue.computed { read in read(isOther.publisher) ? 1 : 1 }
    let sum = PublishedValue.computed { read in read(found) + read(equal) }
    let early = Shared<Int?>(nil)
    let first = other.publisher.subscribe { _ in early.value = sum.current() }
    let last = Shared(0)
    let subscription = sum.subscribe { last.value = $0 }

    isOther.value = true
    // In its turn, before the graph has the change.
    other.value = 10

    #expect(early.value == 11 && last.value == 11)
    withExtendedLifetime((first, subscription)) {}
  }

  @Test func `I3 a source has the value that was delivered last`() {
    let source = PublishedProperty(0)
    // In the turn of 1, before the graph. The change to 2 is not delivered yet.
    let first = source.publisher.subscribe { if $0 == 1 { source.value = 2 } }
    let inputs = LiveInputs(of: node { read in read(source.publisher) })
    let seen = Shared<[[Int]]>([])
    let subscription = inputs.subscribe { result in
      let records = inputs.index.sources.values.map {
        inputs.index.table[$0].record?.value(of: Int.self) ?? -1
      }
      seen.append(records + [result.value(of: Int.self), source.value])
    }

    source.value = 1

    #expect(seen.value == [[0, 0, 0], [1, 1, 2], [2, 2, 2]])
    withExtendedLifetime((first, subscription)) {}
  }

  @Test func `I4 at the time of the index, all sources had its values`() async {
    await inspectRandomGraphs { graph in
      let time = graph.index.time
      return time == 0
        || graph.index.sources.values.allSatisfy { id in
          guard let record = graph.table[id].record, let storage = graph.table[id].storage else {
            return false
          }
          let present = storage.use { $0.presentRecord() }
          let next = present.version.load(ordering: .relaxed)
          return graph.table[id].knownVersion <= time
            && (record.isPresent || record.hasValue(of: present) || next > time)
        }
    }
  }

  @Test func `I5 user code in a pass cannot change the index`() {
    let (one, other) = (PublishedProperty(0), PublishedProperty(0))
    let seen = Shared<[Int]>([])
    let inputs = Shared<LiveInputs?>(nil)
    /// The values of the sources in the index.
    @Sendable func records() -> [Int] {
      guard let index = inputs.value?.index else { return [] }
      return index.sources.values.compactMap { index.table[$0].record?.value(of: Int.self) }
        .sorted()
    }
    let faults = Shared(0)
    inputs.value = LiveInputs(
      of: node { read in
        let sum = read(one.publisher) + read(other.publisher)
        if sum == 1 {
          let before = records()
          // On this thread, and on another.
          other.value = 10
          onThreads(1) { _ in one.value = 100 }
          if records() != before || inputs.value?.index.steps.count != 1 { faults.increment() }
        }
        return sum
      })
    let subscription = inputs.value?.subscribe { seen.append($0.value(of: Int.self)) }

    one.value = 1

    #expect(faults.value == 0)
    #expect(seen.value.last == 110 && records() == [10, 100])
    withExtendedLifetime(subscription) {}
    inputs.value = nil
  }
}

private final class RandomGraph: Sendable {
  let sources = (0..<4).map { _ in PublishedProperty(0) }
  let last: ComputedNode
  let inputs: LiveInputs

  init(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var values = sources.map(\.publisher)
    for _ in 0..<10 {
      let inputs = (0..<3).map { _ in values.randomElement(using: &random) ?? .constant(0) }
      values.append(
        .computed { read in
          let first = read(inputs[0])
          return (first + read(first.isMultiple(of: 2) ? inputs[1] : inputs[2])) % 16
        })
    }
    let all = values
    last = node { read in
      all.suffix(4).reduce(0) { $0 + read($1) }
    }
    inputs = LiveInputs(of: last)
  }

  func change(with random: inout SeededGenerator) {
    let value = Int.random(in: 0..<16, using: &random)
    let changed = sources.shuffled(using: &random)
    if Bool.random(using: &random) {
      together { set in for source in changed.prefix(2) { set(source, to: value) } }
    } else {
      changed[0].value = value
    }
  }

  var isAtRest: Bool { sources.allSatisfy { $0.pendingUpdates == 0 } }
}

/// The index of a graph between two passes.
private struct Inspection {
  let index: DependencyIndex
  let root: EntryID?

  init(_ graph: RandomGraph) {
    index = graph.inputs.index
    root = index.values[ObjectIdentifier(graph.last)]
  }

  var table: EntryTable { index.table }
  var entries: [EntryID] { Array(index.values.values) + Array(index.sources.values) }

  func links(of id: EntryID) -> [IndexEntry.Link] { table[id].links }
  func children(of id: EntryID) -> [EntryID] { table[id].children }
}
