extension Publisher where Kind: StreamKind {
  /// Calls with the first update at once, and then at most once in each interval.
  ///
  /// ```swift
  /// let frames = position.throttle(for: .milliseconds(16), clock: clock)
  /// ```
  ///
  /// An interval begins with each call. It calls where the publisher does, or, with what has waited
  /// for the end of an interval, where the clock does. A published value stays one, and skips what
  /// equals the value delivered last. What is pending when the publisher ends is delivered at once,
  /// although the interval is not over. Each subscriber has one timer, which ends with its
  /// subscription, as does what is pending.
  ///
  /// - Parameters:
  ///   - interval: With 0, every update passes; a negative one stops the program.
  ///   - latest: Whether the last update of an interval is delivered at its end; otherwise all that
  ///     come during an interval are left out. The last change of a published value is always
  ///     delivered.
  ///   - clock: The only source of time.
  public func throttle(
    for interval: Duration, latest: Bool = true, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let interval = clampedWait(interval, of: "throttle")
    let timekeeper = Timekeeper(clock)
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Update>() : nil
    let keepsLast = latest || Kind.hasCurrentValue
    return Publisher(of: self, current: readCurrent) { receive in
      let state = SerialState(Throttling<Update>())
      let begin: @Sendable (Update) -> Void = { update in
        unsafe state.value.intervalEnd = timekeeper.now() + interval
        receive(update)
      }
      let call = changeTest.map { skippingDuplicates($0, begin) } ?? begin
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          if unsafe state.value.isOpen(at: now) {
            call(update)
          } else if keepsLast {
            if unsafe state.value.pending == nil {
              unsafe alarm.set(to: state.value.intervalEnd ?? now)
            }
            unsafe state.value.pending = update
          }
          return true
        case .ring:
          if let update = unsafe state.value.pending.take() { call(update) }
          return true
        case .end:
          if let update = unsafe state.value.pending.take() { call(update) }
          return false
        }
      }
    }
  }
}

private struct Throttling<Update> {
  /// `nil` before the first call.
  var intervalEnd: Duration?
  var pending: Update?

  func isOpen(at now: Duration) -> Bool {
    pending == nil && (intervalEnd.map { $0 <= now } ?? true)
  }
}
