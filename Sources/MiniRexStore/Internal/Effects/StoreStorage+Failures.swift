import MiniRex

extension StoreStorage {
  /// Remembers a subscription of `events`, which receives the errors of effects.
  ///
  /// Needs exclusive access.
  func remember(_ subscription: Subscription) {
    if inside.eventSubscriptions.count == inside.eventSubscriptions.capacity {
      inside.eventSubscriptions.removeAll { $0.subscription == nil }
    }
    inside.eventSubscriptions.append(WeakSubscription(subscription: subscription))
  }

  /// Reports an error to the instrument.
  ///
  /// In a debug build, it is also printed, unless a subscriber of `events` or a task that awaits the
  /// effects receives it.
  func failed(_ effect: RunningEffect, with error: any Error) {
    lineage?.effectHasFailed("\(error)")
    inDebugBuild { if !(error is CancellationError) { advise(effect, error) } }
  }

  private func advise(_ effect: RunningEffect, _ error: any Error) {
    // The last references are released after the access.
    let subscriptions = withAccess { inside.eventSubscriptions.compactMap(\.subscription) }
    if subscriptions.contains(where: \.isSubscribed) { return }
    effect.group.advise(
      "MiniRex: '\(effect.run)' of \(type), created at \(place), failed with \(error). Handle errors in "
        + "the effect, and send an action. To receive them, subscribe to 'events', or await 'finished()'."
    )
  }
}
