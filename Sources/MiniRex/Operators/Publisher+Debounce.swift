extension Publisher where Kind: StreamKind {
  /// Calls with an update when no other has come for a while.
  ///
  /// ```swift
  /// let calm = searchText.debounce(for: .milliseconds(300), clock: clock)
  /// ```
  ///
  /// It calls where the clock does. A published value stays one: its first value comes at once, and
  /// a change that has been undone meanwhile is skipped. What is pending when the publisher ends is
  /// delivered at once, because nothing can follow it. Each subscriber has one timer, which ends
  /// with its subscription, as does what is pending.
  ///
  /// - Parameters:
  ///   - interval: How long it has to be quiet. With 0, an update is delivered when the clock
  ///     is next able to; a negative one stops the program.
  ///   - clock: The only source of time.
  public func debounce(
    for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let interval = clampedWait(interval, of: "debounce")
    let timekeeper = Timekeeper(clock)
    let changeTest = Kind.hasCurrentValue ? ChangeTest<Update>() : nil
    return Publisher(of: self, current: readCurrent) { receive in
      let receive = changeTest.map { skippingDuplicates($0, receive) } ?? receive
      let state = SerialState(Debouncing<Update>(callsAtOnce: Kind.hasCurrentValue))
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          if unsafe state.value.callsAtOnce {
            unsafe state.value.callsAtOnce = false
            receive(update)
          } else {
            unsafe state.value.pending = update
            unsafe state.value.deadline = now + interval
            unsafe alarm.set(to: state.value.deadline)
          }
          return true
        case .ring(let instant):
          // An alarm that rang while the next update came is not the one for that update.
          guard unsafe state.value.deadline <= instant else { return true }
          if let update = unsafe state.value.pending.take() { receive(update) }
          return true
        case .end:
          if let update = unsafe state.value.pending.take() { receive(update) }
          return false
        }
      }
    }
  }
}

private struct Debouncing<Update> {
  /// True until the first value of a published value has come.
  var callsAtOnce: Bool
  var pending: Update?
  var deadline = Duration.zero
}
