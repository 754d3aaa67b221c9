/// A loaded value that stays fresh.
///
/// ```swift
/// let keys = Resource(staleAfter: .seconds(600), clock: clock) { try await fetchKeys() }
/// let current = try await keys.value()
/// ```
///
/// It loads for its first subscriber or its first ``value()``, and all of them share the load. A value
/// whose age reaches `staleAfter` is stale: it is still shown, and the next subscriber or the next
/// ``value()`` loads again. With `refreshEvery`, it also loads again while it has a subscriber. A
/// failure is published with the value.
///
/// The load runs in a Swift task. It is canceled when the last subscriber and the last waiting
/// caller cancel, unless ``refresh()`` or a read of a stale value requested it. Releasing the
/// resource cancels its load and finishes its publisher. A subscription does not retain it.
///
/// ``publisher`` is a separate source, even in computed values. See <doc:AValueThatStaysFresh>.
public final class Resource<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let core: ResourceCore<Value, Failure>
  private let onRelease: @Sendable () -> Void

  /// A publisher that emits the current state, then each change of it.
  ///
  /// Its first subscriber starts the load, if there is no value or the value is stale. The first
  /// update then already has ``State/isLoading``. An equal value is not emitted again. It retains
  /// the current value, but not the resource.
  public let publisher: PublishedValue<State>

  /// Creates a resource without a value.
  ///
  /// - Parameters:
  ///   - staleAfter: The age at which a value is stale. By default, it never is. With 0, it always
  ///     is. Traps if negative.
  ///   - interval: The time between the end of a load and the next load, while there is a
  ///     subscriber. By default, nothing loads again automatically. Traps if it is not longer than 0.
  ///   - retries: The maximum number of further attempts after a failed attempt. Traps if negative.
  ///   - retryDelay: The delay between a failure and the next attempt. ``refresh()`` ends it early.
  ///   - isWorthIt: A predicate for every failure except the last attempt's. If it returns `false`,
  ///     no further attempt is made.
  ///   - clock: The only source of time.
  ///   - name: The name that instruments and graphs show.
  ///   - instrument: The instrument that observes the resource. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  ///   - load: The function that loads the value. It may use the resource. Without an explicit
  ///     failure type, a closure that throws has the failure `any Error`.
  public convenience init(
    staleAfter: Duration? = nil, refreshEvery interval: Duration? = nil, retries: Int = 0,
    retryDelay: RetryDelay = .exponential(from: .seconds(1), upTo: .seconds(30), jitter: 0.5),
    retryWhile isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    clock: any Clock<Duration> = ContinuousClock(), name: String? = nil,
    instrument: (any Instrument)? = nil, fileID: String = #fileID, line: Int = #line,
    _ load: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    let core = ResourceCore(
      LoadPolicy(
        staleAfter: staleAfter, refreshEvery: interval, retries: retries, retryDelay: retryDelay,
        retryWhile: isWorthIt),
      Timekeeper(clock),
      .ofResource(name, Self.self, instrument: instrument, fileID, line), load)
    self.init(
      core,
      Publisher(watchedBy: core.lineage, value: .untracked { core.current }) { core.subscribe($0) }
    ) { core.end() }
  }

  init(
    _ core: ResourceCore<Value, Failure>, _ publisher: PublishedValue<State>,
    onRelease: @escaping @Sendable () -> Void
  ) {
    self.core = core
    self.publisher = publisher
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
  }

  /// The current state.
  ///
  /// Reading it loads nothing.
  public var state: State { core.current }

  /// Returns the value, and waits for a load if there is none.
  ///
  /// A stale value is returned as well, and a load starts in the background. Callers that wait
  /// share one load. A fresh value is returned without a suspension. Canceling the waiting task
  /// cancels the load if nothing else needs it, and returns after the load has returned.
  ///
  /// - Throws: The failure of the load after its last attempt, `CancellationError` if the task is
  ///   canceled or the ``ResourceFamily`` is released, or ``LoadCycleError`` inside the load itself.
  @inlinable
  public func value() async throws -> Value {
    if let value = core.freshValue { return value }
    return try await value(orLoadedWithin: nil)
  }

  /// Returns a value that is at most as old as the given duration, and waits for a load otherwise.
  ///
  /// With 0, it returns a value of this instant only, and otherwise waits for the load in progress or
  /// a new load. The age of the value counts, not whether it is stale. See ``value()`` for the rest.
  public func value(maxAge: Duration) async throws -> Value {
    try await value(orLoadedWithin: maxAge)
  }

  /// A task with the value, for the operators of tasks.
  ///
  /// Its subscribers share one result: the value at the first subscription, or the result of the
  /// load that ``value()`` would wait for. Each access creates another task, which retains the
  /// resource.
  public var task: PublishedTask<Value, Failure> { task(ofAge: nil) }

  package func task(maxAge: Duration) -> PublishedTask<Value, Failure> { task(ofAge: maxAge) }

  /// Loads now, and keeps the value until the load succeeds.
  ///
  /// It joins a load in progress, and ends the delay between two of its attempts. The load then
  /// continues without subscribers. To receive the loaded value, see ``value(maxAge:)``.
  public func refresh() {
    core.refresh()
  }

  /// Discards the value, its failure, and the load in progress.
  ///
  /// The next subscriber or the next ``value()`` loads. With subscribers or waiting callers, the
  /// load starts immediately, and they receive its result.
  public func invalidate() {
    core.invalidate()
  }

  /// Sets the value, as if it had been loaded now.
  ///
  /// Use it for a value that you have sent to a server, or expect from it. The load in progress is
  /// canceled and does not overwrite the value. Waiting callers receive the value.
  public func set(_ value: Value) {
    core.set(value)
  }

  /// The number of active subscriptions.
  public var subscriberCount: Int { core.delivery.subscriberCount }

  /// The number of callers that wait for the load.
  package var waiterCount: Int { core.waiterCount }
}

/// The error of a load that waits for its own result.
public struct LoadCycleError: Error, Hashable, CustomStringConvertible {
  /// The condition and a remedy.
  public var description: String {
    "The load of a Resource awaited the value of the same resource, which has none. "
      + "Read 'state.value' in the load, or call 'set(_:)' before."
  }
}

extension Resource {
  @usableFromInline
  func value(orLoadedWithin maxAge: Duration?) async throws -> Value {
    if let value = core.value(ofAge: maxAge) { return value }
    if core.isLoadCaller { throw LoadCycleError() }
    return try await task(ofAge: maxAge).value
  }

  private func task(ofAge maxAge: Duration?) -> PublishedTask<Value, Failure> {
    Publisher(
      of: core.lineage.map { [$0] } ?? [], by: "task",
      sharing: SharedWork { inlet in self.core.wait(ofAge: maxAge) { inlet.finish($0) } })
  }
}
