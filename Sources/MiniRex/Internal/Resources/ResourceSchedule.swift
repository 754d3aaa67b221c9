/// Decides, under the lock of a resource, when an attempt to load starts, whether its answer counts,
/// and when the clock must wake the resource.
///
/// It has no values and no callbacks. A load has a number, and every attempt of it has one.
@usableFromInline
package struct ResourceSchedule: Hashable, Sendable {
  /// One attempt of one load.
  package struct Attempt: Hashable, Sendable {
    package let load: Int
    package let number: Int
  }

  @usableFromInline let staleAfter: Duration?
  let interval: Duration?

  @usableFromInline package private(set) var hasValue = false
  @usableFromInline package private(set) var isStale = false
  /// The attempt in progress, or the last attempt before a pause, or `nil` if no load is in progress.
  package private(set) var attempt: Attempt?
  package private(set) var subscriberCount = 0
  package private(set) var waiterCount = 0
  package private(set) var hasEnded = false
  /// `true` if the load continues without subscribers and waiters.
  private var isRequested = false
  private var lastLoad = 0
  /// The instant at which the value was loaded or set.
  @usableFromInline private(set) var valueTime = Duration.zero
  /// The instant at which the last load ended.
  private var loadEnd: Duration?
  private var retryTime: Duration?
  private var pollTime: Duration?

  package init(staleAfter: Duration?, refreshEvery interval: Duration?) {
    self.staleAfter = staleAfter
    self.interval = interval
  }

  /// The instant at which the clock must call, or `nil` if no timer is needed.
  package var nextWake: Duration? {
    let staleTime =
      subscriberCount > 0 && hasValue && !isStale ? staleAfter.map { valueTime + $0 } : nil
    return [retryTime, pollTime, staleTime].lazy.compactMap { $0 }.min()
  }

  /// `true` if no subscriber, waiter, or load needs the resource.
  package var isIdle: Bool { subscriberCount == 0 && waiterCount == 0 && attempt == nil }

  /// Returns `true` if there is a value that is not stale.
  @inlinable
  package func isFresh(at now: Duration) -> Bool {
    guard hasValue, !isStale else { return false }
    guard let staleAfter else { return true }
    return now - valueTime < staleAfter
  }

  /// Returns `true` if there is a value of at most the given age.
  package func hasValue(ofAge maxAge: Duration?, at now: Duration) -> Bool {
    guard hasValue, let maxAge else { return hasValue }
    return now - valueTime <= maxAge
  }

  /// The age of the value, or `nil` without a value.
  package func age(at now: Duration) -> Duration? { hasValue ? now - valueTime : nil }

  /// Marks a value as stale once it is too old.
  package mutating func update(at now: Duration) {
    if hasValue, !isFresh(at: now) { isStale = true }
  }
}

extension ResourceSchedule {
  package mutating func subscribe(at now: Duration) {
    if hasEnded { return }
    update(at: now)
    subscriberCount += 1
    if attempt != nil { return }
    if !hasValue || isStale {
      start()
    } else if subscriberCount == 1, let interval {
      pollTime = next(after: loadEnd ?? now, every: interval, notBefore: now)
    }
  }

  package mutating func unsubscribe() {
    if hasEnded { return }
    subscriberCount -= 1
    if subscriberCount == 0 { pollTime = nil }
    cancelUnneeded()
  }

  /// Adds a caller that waits for the load, which starts if it is not in progress.
  package mutating func addWaiter() {
    waiterCount += 1
    if attempt == nil { start() }
  }

  package mutating func removeWaiter() {
    waiterCount -= 1
    cancelUnneeded()
  }

  /// Requests a load, which then continues without subscribers and waiters.
  ///
  /// It ends a pause between two attempts.
  package mutating func refresh(at now: Duration) {
    if hasEnded { return }
    update(at: now)
    if attempt == nil { start() } else if retryTime != nil { retry() }
    isRequested = true
  }

  /// Discards the value, and the answer of the load in progress.
  package mutating func invalidate() {
    if hasEnded { return }
    hasValue = false
    isStale = false
    if subscriberCount > 0 || waiterCount > 0 { start() } else { cancel() }
  }

  /// Stores a value from elsewhere, and discards the answer of the load in progress.
  ///
  /// All waiters receive the value.
  package mutating func set(at now: Duration) {
    if hasEnded { return }
    store(at: now)
    if attempt != nil { endLoad(at: now) }
  }

  /// Records that a load has succeeded.
  ///
  /// - Returns: `false` if the answer is discarded.
  package mutating func succeed(_ load: Int, at now: Duration) -> Bool {
    guard attempt?.load == load else { return false }
    endLoad(at: now)
    store(at: now)
    return true
  }

  /// Records that an attempt of a load has failed.
  ///
  /// - Parameter retryTime: The instant of the next attempt, or `nil` after the last attempt. All
  ///   waiters then receive the failure.
  /// - Returns: `false` if the answer is discarded.
  package mutating func fail(_ load: Int, at now: Duration, retryingAt retryTime: Duration?) -> Bool
  {
    guard attempt?.load == load else { return false }
    update(at: now)
    self.retryTime = retryTime
    if retryTime == nil { endLoad(at: now) }
    return true
  }

  /// Called by the clock.
  package mutating func wake(at now: Duration) {
    update(at: now)
    if let retryTime, retryTime <= now { retry() }
    guard let pollTime, pollTime <= now else { return }
    self.pollTime = nil
    if attempt == nil { start() }
  }

  package mutating func end() {
    hasEnded = true
    subscriberCount = 0
    waiterCount = 0
    pollTime = nil
    cancel()
  }
}

extension ResourceSchedule {
  private mutating func start() {
    lastLoad += 1
    attempt = Attempt(load: lastLoad, number: 1)
    isRequested = false
    retryTime = nil
    pollTime = nil
  }

  private mutating func retry() {
    retryTime = nil
    attempt = attempt.map { Attempt(load: $0.load, number: $0.number + 1) }
  }

  private mutating func cancel() {
    attempt = nil
    isRequested = false
    retryTime = nil
  }

  private mutating func cancelUnneeded() {
    if subscriberCount == 0, waiterCount == 0, !isRequested { cancel() }
  }

  private mutating func endLoad(at now: Duration) {
    cancel()
    waiterCount = 0
    loadEnd = now
    if subscriberCount > 0 { pollTime = interval.map { now + $0 } }
  }

  private mutating func store(at now: Duration) {
    hasValue = true
    isStale = false
    valueTime = now
    update(at: now)
  }
}
