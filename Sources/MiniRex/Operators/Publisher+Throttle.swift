extension Publisher where Kind: StreamKind {
  /// Emits the first update immediately, and then at most one update per interval.
  ///
  /// ```swift
  /// let frames = position.throttle(for: .milliseconds(16), clock: clock)
  /// ```
  ///
  /// ![throttle emits the first update immediately, then the latest of each interval](throttle.svg)
  ///
  /// Each emitted update starts an interval. Callbacks run where the publisher runs them, and for
  /// an update that waited for the end of an interval, where the clock runs them. A published value
  /// stays a published value, and skips a value that equals the last delivered one. A pending
  /// update is delivered immediately when the publisher finishes. Each subscriber has one timer,
  /// which stops with its subscription, and the pending update is dropped.
  ///
  /// - Parameters:
  ///   - interval: The minimum time between two updates. With 0, every update is emitted. Traps if
  ///     negative.
  ///   - latest: A Boolean value that indicates whether the last update of an interval is emitted
  ///     at its end. Otherwise, all updates within an interval are dropped. The last change of a
  ///     published value is always emitted.
  ///   - clock: The only source of time.
  public func throttle(
    for interval: Duration, latest: Bool = true, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let interval = clampedWait(interval, of: "throttle")
    let timekeeper = Timekeeper(clock)
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Update>() : nil
    let keepsLast = latest || Kind.hasCurrentValue
    return Publisher(of: self, value: .untracked { readCurrent() }) { receive in
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
              unsafe alarm.set(to: state.value.intervalEnd ?? now, from: now)
            }
            unsafe state.value.pending = Carried(update)
          }
          return true
        case .ring:
          unsafe state.value.pending.take()?.deliver(call)
          return true
        case .end:
          unsafe state.value.pending.take()?.deliver(call)
          return false
        }
      }
    }
  }
}

private struct Throttling<Update: Sendable> {
  /// `nil` before the first update.
  var intervalEnd: Duration?
  var pending: Carried<Update>?

  func isOpen(at now: Duration) -> Bool {
    pending == nil && (intervalEnd.map { $0 <= now } ?? true)
  }
}
