extension Publisher where Kind == BroadcasterKind {
  /// A broadcaster that calls with the updates in order, one after each interval, and then ends.
  ///
  /// Every subscriber begins with the first, an interval after it subscribed; it is called where
  /// the clock calls. An interval that is not longer than 0 stops the program.
  public static func sequence(
    _ updates: [Update], every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<Update> {
    let ticks = clock.broadcaster(every: interval, watchedBy: nil).prefix(updates.count)
    return ticks.scan(-1) { index, _ in index + 1 }.map { updates[$0] }
  }

  /// A broadcaster that calls with all of the updates after a delay, and then ends.
  ///
  /// Every subscriber waits for itself; it is called where the clock calls. A negative delay stops
  /// the program.
  public static func sequence(
    _ updates: [Update], after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<Update> {
    sequence(updates).delay(for: delay, clock: clock)
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// A published value that never changes, and calls after a delay.
  ///
  /// Every subscriber waits for itself; it is called where the clock calls. A negative delay stops
  /// the program.
  public static func constant(
    _ value: Update, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedValue<Update> {
    constant(value).delay(for: delay, clock: clock)
  }
}
