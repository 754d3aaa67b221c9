extension Clock where Duration == Swift.Duration {
  /// A broadcaster that calls after each interval, with the time since its subscription.
  ///
  /// ```swift
  /// let subscription = clock.broadcaster(every: .seconds(1)).subscribe { print($0) }
  /// ```
  ///
  /// It calls where the clock does; every subscriber has one timer of its own, which ends with its
  /// subscription. It never ends by itself. Calls are due at whole multiples of the interval, so
  /// they do not drift; multiples that have passed before it could call are left out.
  ///
  /// - Parameters:
  ///   - interval: One that is not longer than 0 stops the program.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster(
    every interval: Swift.Duration, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Swift.Duration> {
    broadcaster(every: interval, watchedBy: .ofSource("every \(interval)", fileID, line))
  }

  func broadcaster(
    every interval: Swift.Duration, watchedBy lineage: Lineage?
  ) -> Broadcaster<Swift.Duration> {
    if interval <= .zero {
      misuse("'broadcaster(every:)' takes an interval longer than 0, not \(interval).")
    }
    let interval = min(interval, .longestWait)
    let timekeeper = Timekeeper(self)
    return Publisher(watchedBy: lineage, current: { nil }) { receive in
      let start = timekeeper.now()
      let ticks = Delivery<Swift.Duration>()
      let alarm = Alarm(timekeeper) { ticks.send($0) }
      let gate = ticks.subscribe { instant in
        let next = next(after: instant, every: interval, notBefore: timekeeper.now())
        if next <= .longestWait { alarm.set(to: next) }
        receive(instant - start)
      }
      alarm.set(to: start + interval)
      return Subscription(gate: gate, inputs: [Subscription { alarm.end() }])
    }
  }
}

/// The next whole multiple that has not passed; exact, however many have.
private func next(
  after instant: Duration, every interval: Duration, notBefore now: Duration
) -> Duration {
  var next = instant + interval
  while next < now {
    var step = interval
    while next + step + step < now { step += step }
    next += step
  }
  return next
}
