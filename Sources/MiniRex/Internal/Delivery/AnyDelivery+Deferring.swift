/// Computed values that wait for the last of several updates that other threads have queued.
///
/// A combination of inputs that share the source needs each turn, so a barrier prevents it.
extension AnyDelivery {
  /// `true` if the next update in the queue is one of another thread.
  ///
  /// Called in a turn, by the delivering thread.
  @inlinable
  final var isFollowed: Bool { turnstile.isSignaled && isFollowedByOthers }

  @usableFromInline
  final var isFollowedByOthers: Bool { lock.withLock { isFollowedByOthers($0) } }

  private func isFollowedByOthers(_ state: borrowing DeliveryState) -> Bool {
    guard let next = state.tickets.first, state.barrierCount == 0 else { return false }
    return next.sender != state.schedule.deliverer
      && state.schedule.foreignUpdates < Schedule.patience
  }

  /// Lets a combination hold its changes until no update of another thread follows.
  final func `defer`(_ combination: Combination) {
    if unsafe deferred.contains(where: { $0 === combination }) { return }
    unsafe deferred.append(combination)
    combination.open()
  }

  /// Lets the deferred combinations emit.
  ///
  /// Called between two turns, or by a turn that needs all of the emissions.
  @usableFromInline
  final func releaseDeferred(always: Bool = false) {
    if unsafe deferred.isEmpty || !always && isFollowedByOthers { return }
    var released: [Combination] = []
    unsafe swap(&deferred, &released)
    for combination in released { combination.close() }
  }
}
