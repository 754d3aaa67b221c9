/// The calls of `ended` that wait for the subscriptions of one host.
///
/// The lock of the host guards it. The taken calls are resumed outside the lock.
@usableFromInline
package struct EndCalls: Sendable {
  private var calls: [ObjectIdentifier: [WaitingCall]] = [:]

  @usableFromInline
  init() {}

  mutating func add(_ call: WaitingCall, for token: Subscription) {
    calls[ObjectIdentifier(token), default: []].append(call)
  }

  /// Removes a call whose task was canceled.
  mutating func remove(_ call: WaitingCall, for token: Subscription) {
    let id = ObjectIdentifier(token)
    calls[id]?.removeAll { $0 === call }
    if calls[id]?.isEmpty == true { calls[id] = nil }
  }

  @usableFromInline
  mutating func take(for token: Subscription) -> [WaitingCall] {
    if calls.isEmpty { return [] }
    return calls.removeValue(forKey: ObjectIdentifier(token)) ?? []
  }

  @usableFromInline
  mutating func takeAll() -> [WaitingCall] {
    if calls.isEmpty { return [] }
    defer { calls = [:] }
    return calls.values.flatMap(\.self)
  }
}

extension Subscription {
  /// Returns after the subscription has ended: its source has finished, or it was canceled.
  ///
  /// ```swift
  /// await progress.publisher.subscribe { print("\($0) %") }.ended
  /// ```
  ///
  /// After a finish, the last callback and `onEnd` have returned. After ``invalidate()``, and where
  /// `prefix(until:)` finishes on another thread, a callback may still run there: write
  /// `await invalidateAndWait()` as well. It returns immediately for an ended subscription, and early
  /// if its Swift task is canceled. It retains the subscription while it waits, but not the source. A
  /// subscription of `subscribe(weakly:)` whose owner was deallocated ends here with the next update.
  public var ended: Void {
    get async {
      // Releasing the last reference would cancel the subscription.
      defer { extendLifetime(self) }
      var token = self
      while let inner = token.host.decisive(for: token) { token = inner }
      let call = WaitingCall()
      var mustWait = false
      token.host.withEndCalls(of: token) { calls, isActive in
        mustWait = isActive
        if isActive { calls.add(call, for: token) }
      }
      if !mustWait { return }
      await call.wait()
      if Task.isCancelled {
        token.host.withEndCalls(of: token) { calls, _ in calls.remove(call, for: token) }
      }
    }
  }
}
