internal import Synchronization

/// The present dependencies of a computed value in a graph, and the number and the duration of its
/// runs.
final class ComputedWatch: Sendable {
  private let present = Lock<[Lineage]>([])
  private let runCount = Atomic(0)
  private let nanoseconds = Atomic<Int64>(0)

  var inputs: [Lineage] { present.withLock { $0 } }

  var runs: (count: Int, time: Duration) {
    (runCount.load(ordering: .relaxed), .nanoseconds(nanoseconds.load(ordering: .relaxed)))
  }

  /// Runs the closure of the computed value, and measures it.
  func measure<Result>(_ run: () -> Result) -> Result {
    let start = ContinuousClock.now
    defer {
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      nanoseconds.add(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
      runCount.add(1, ordering: .relaxed)
    }
    return run()
  }

  /// Replaces the inputs of the value by the publishers that its last run has read.
  func haveRead(_ lineages: [Lineage]) {
    var inputs: [Lineage] = []
    for lineage in lineages where !inputs.contains(where: { $0 === lineage }) {
      inputs.append(lineage)
    }
    present.withLock { swap(&$0, &inputs) }
  }
}
