extension Publisher {
  /// Emits each update after a delay, in the same order.
  ///
  /// ```swift
  /// let late = doorbell.delay(for: .seconds(2), clock: clock)
  /// ```
  ///
  /// ![delay shifts each update and the end](delay.svg)
  ///
  /// Callbacks run where the clock runs them, even for the first value of a published value and for
  /// the progress and the result of a task. The delay is separate for each subscriber. When the
  /// publisher finishes, pending updates are still delivered on time before the end. The queue is
  /// unbounded: it holds the updates of the last `duration`. Each subscriber has one timer, which
  /// stops with its subscription, and pending updates are dropped.
  ///
  /// - Parameters:
  ///   - duration: The delay. With 0, an update is delivered as soon as the clock runs. Traps if
  ///     negative.
  ///   - clock: The only source of time.
  public func delay(
    for duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher {
    let duration = clampedWait(duration, of: "delay")
    let timekeeper = Timekeeper(clock)
    return Publisher(of: self, value: .none) { receive in
      let state = SerialState(Delaying<Update>())
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          let delayed = (update: Carried(update), deadline: now + duration)
          unsafe state.value.queue.append(delayed)
          if unsafe state.value.queue.count == 1 { alarm.set(to: delayed.deadline, from: now) }
        case .ring:
          let delayed = unsafe state.value.queue.popFirst()
          if let next = unsafe state.value.queue.first?.deadline {
            let now = timekeeper.now()
            if next <= now { alarm.ring(at: next) } else { alarm.set(to: next, from: now) }
          }
          delayed?.update.deliver(receive)
          // The end has other carried values than the last update, so it is another event.
          if unsafe state.value.queue.count == 0, let values = unsafe state.value.endValues.take() {
            values.run { alarm.ring(at: .zero) }
            return true
          }
        case .end:
          unsafe state.value.hasEnded = true
          unsafe state.value.endValues = state.value.queue.count > 0 ? .current : nil
        }
        return unsafe !state.value.hasEnded || state.value.queue.count > 0
      }
    }
  }
}

private struct Delaying<Update: Sendable> {
  var queue = Queue<(update: Carried<Update>, deadline: Duration)>()
  var hasEnded = false
  /// The carried values of the sender that finished the publisher before the last update was due.
  var endValues: CarriedValues?
}
