import MiniRex
import Synchronization

/// The run of a query that its subscribers share, each in its own subscription to the store.
///
/// A query has no delivery of its own, so that its subscribers change in the turn of the store and
/// in their place among its subscribers. That makes the query glitch-free. The first subscriber of a
/// turn advances the run, and the others find the result.
///
/// Unchecked: the turns of one store never overlap, except for a first value that is read after the
/// store has finished. `isBusy` detects that.
final class SharedRun<Row: Identifiable & Sendable>: @unchecked Sendable where Row.ID: Sendable {
  private let isBusy = Atomic(false)
  private var run: LiveRun<Row>
  private var version: RowsStamp?
  private var previous: RowsStamp?
  private var step: LiveStep<Row>?
  /// The last rows, for readers on any thread.
  private let latest = Lock<(RowsStamp, RowsSnapshot<Row>)?>(nil)

  init(_ run: LiveRun<Row>) { self.run = run }

  /// Returns the rows of a version, if they are the last rows.
  func snapshot(of version: RowsStamp?) -> RowsSnapshot<Row>? {
    latest.withLock { latest in latest?.0 == version ? latest?.1 : nil }
  }

  /// - Returns: `false` if the run is at another version than the subscriber.
  func isAt(_ version: RowsStamp?) -> Bool {
    isBusy.load(ordering: .acquiring) ? false : self.version == version
  }

  /// Advances the run from the version of a subscriber, unless another subscriber has done it.
  ///
  /// - Parameter old: The version of the subscriber, `nil` for its first value.
  /// - Returns: The step, which is `nil` without a change, or `nil` if the versions do not match.
  func apply(_ input: LiveInput, from old: RowsStamp?) -> LiveStep<Row>?? {
    if isBusy.exchange(true, ordering: .acquiringAndReleasing) { return nil }
    defer { isBusy.store(false, ordering: .releasing) }
    if version == input.version, let version {
      guard let old else { return snapshot(of: version).map(LiveStep.init) }
      return previous == old ? .some(step) : nil
    }
    if version != old { return nil }
    previous = version
    version = input.version
    step = run.apply(input)
    let next = run.last.map { snapshot in input.version.map { ($0, snapshot) } } ?? nil
    var replaced = next
    latest.withLock { swap(&$0, &replaced) }
    return .some(step)
  }
}

/// One subscriber's view of a shared run.
///
/// Serial. A subscriber that joins inside a turn may be ahead of the run. It then has a separate run
/// until both are at one version.
struct SharedRunMember<Row: Identifiable & Sendable> where Row.ID: Sendable {
  private let shared: SharedRun<Row>
  private let makeRun: @Sendable () -> LiveRun<Row>
  private var own: LiveRun<Row>?
  private var version: RowsStamp?

  init(of shared: SharedRun<Row>, _ makeRun: @escaping @Sendable () -> LiveRun<Row>) {
    self.shared = shared
    self.makeRun = makeRun
  }

  mutating func apply(_ input: LiveInput) -> LiveStep<Row>? {
    defer { version = input.version }
    if own == nil, let step = shared.apply(input, from: version) { return step }
    var run = own ?? makeRun()
    let step = run.apply(input)
    own = shared.isAt(input.version) ? nil : run
    return step
  }
}

extension LiveStep {
  /// The first value of a subscriber.
  init(_ snapshot: RowsSnapshot<Row>) { self.init(snapshot: snapshot, update: .all(snapshot)) }
}

extension PublishedValue<LiveInput> {
  /// Publishes the steps of one run for each subscriber.
  func steps<Row>(
    _ makeRun: @escaping @Sendable () -> LiveRun<Row>
  ) -> PublishedValue<LiveStep<Row>> {
    Publisher<LiveStep<Row>, PublishedValueKind>(
      of: self, by: "live",
      current: {
        var run = makeRun()
        return readCurrent().flatMap { run.apply($0) }
      }
    ) { receive in
      let run = SerialState(makeRun())
      return follow { input in if let step = run.value.apply(input) { receive(step) } }
    }
  }

  /// Publishes the steps of one run for all subscribers.
  func sharedSteps<Row>(
    _ makeRun: @escaping @Sendable () -> LiveRun<Row>
  ) -> PublishedValue<LiveStep<Row>> {
    let current = Lock(WeakRun<Row>())
    return Publisher<LiveStep<Row>, PublishedValueKind>(
      of: self, by: "live",
      current: {
        guard let input = readCurrent() else { return nil }
        let shared = current.withLock { $0.run }
        if let snapshot = shared?.snapshot(of: input.version) { return LiveStep(snapshot) }
        var run = makeRun()
        return run.apply(input)
      }
    ) { receive in
      let new = SharedRun(makeRun())
      let shared = current.withLock { current in
        if let run = current.run { return run }
        current.run = new
        return new
      }
      let member = SerialState(SharedRunMember(of: shared, makeRun))
      return follow { input in if let step = member.value.apply(input) { receive(step) } }
    }
  }
}

private struct WeakRun<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  weak var run: SharedRun<Row>?
}
