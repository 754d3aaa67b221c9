extension Publisher where Kind: StreamKind {
  /// Emits an update once `interval` passes without another update.
  ///
  /// ```swift
  /// let calm = searchText.debounce(for: .milliseconds(300), clock: clock)
  /// ```
  ///
  /// ![debounce waits for a quiet interval](debounce.svg)
  ///
  /// Callbacks run where the clock runs them. A published value stays a published value: it emits
  /// its first value immediately, and skips a change that was undone within the interval. A pending
  /// update is delivered immediately when the publisher finishes. Each subscriber has one timer,
  /// which stops with its subscription, and the pending update is dropped.
  ///
  /// - Parameters:
  ///   - interval: The quiet time. With 0, an update is delivered as soon as the clock runs. Traps
  ///     if negative.
  ///   - clock: The only source of time.
  public func debounce(
    for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let interval = clampedWait(interval, of: "debounce")
    let timekeeper = Timekeeper(clock)
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Update>() : nil
    return Publisher(of: self, value: .untracked { readCurrent() }) { receive in
      let receive = changeTest.map { skippingDuplicates($0, receive) } ?? receive
      let state = SerialState(Debouncing<Update>(callsAtOnce: Kind.hasCurrentValue))
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          if unsafe state.value.callsAtOnce {
            unsafe state.value.callsAtOnce = false
            receive(update)
          } else {
            unsafe state.value.pending = Carried(update)
            unsafe state.value.deadline = now + interval
            unsafe alarm.set(to: state.value.deadline, from: now)
          }
          return true
        case .ring(let instant):
          // An alarm of an earlier update must not deliver a later one early.
          guard unsafe state.value.deadline <= instant else { return true }
          unsafe state.value.pending.take()?.deliver(receive)
          return true
        case .end:
          unsafe state.value.pending.take()?.deliver(receive)
          return false
        }
      }
    }
  }
}

private struct Debouncing<Update: Sendable> {
  /// `true` until the first value of a published value is emitted.
  var callsAtOnce: Bool
  var pending: Carried<Update>?
  var deadline = Duration.zero
}
