extension Publisher {
  /// Calls with each update a while after it came, in the same order.
  ///
  /// ```swift
  /// let late = doorbell.delay(for: .seconds(2), clock: clock)
  /// ```
  ///
  /// It calls where the clock does, even with the first value of a published value and with the
  /// progress and the result of a task; every subscriber waits for itself. When the publisher ends,
  /// what is pending is still delivered at its time, and then this ends. What waits has no limit:
  /// it is what came within the duration. Each subscriber has one timer, which ends with its
  /// subscription, as does what waits.
  ///
  /// - Parameters:
  ///   - duration: With 0, an update is delivered when the clock is next able to; a negative
  ///     one stops the program.
  ///   - clock: The only source of time.
  public func delay(
    for duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let duration = clampedWait(duration, of: "delay")
    let timekeeper = Timekeeper(clock)
    return Publisher(of: self, current: { nil }) { receive in
      let state = SerialState(Delaying<Update>())
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          let delayed = (update: update, deadline: now + duration)
          unsafe state.value.queue.append(delayed)
          if unsafe state.value.queue.count == 1 { alarm.set(to: delayed.deadline) }
        case .ring:
          let delayed = unsafe state.value.queue.popFirst()
          if let next = unsafe state.value.queue.first?.deadline {
            if next <= timekeeper.now() { alarm.ring(at: next) } else { alarm.set(to: next) }
          }
          if let delayed { receive(delayed.update) }
        case .end:
          unsafe state.value.hasEnded = true
        }
        return unsafe !state.value.hasEnded || state.value.queue.count > 0
      }
    }
  }
}

private struct Delaying<Update> {
  var queue = Queue<(update: Update, deadline: Duration)>()
  var hasEnded = false
}
