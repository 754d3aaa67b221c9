extension Clock where Duration == Swift.Duration {
  /// Creates a broadcaster that emits the time since the subscription, once per interval.
  ///
  /// ```swift
  /// let subscription = clock.broadcaster(every: .seconds(1)).subscribe { print($0) }
  /// ```
  ///
  /// ![broadcaster every ticks at multiples of the interval for each
  /// subscriber](broadcaster-every.svg)
  ///
  /// Callbacks run where the clock runs them. Each subscriber has a separate timer, which stops
  /// with its subscription. The broadcaster never finishes. Ticks are due at exact multiples of the
  /// interval, so they do not drift. Multiples that pass before a tick can be delivered are
  /// skipped.
  ///
  /// - Parameters:
  ///   - interval: The time between two ticks. Traps if it is not longer than 0.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster(
    every interval: Swift.Duration, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Swift.Duration> {
    broadcaster(every: interval, watchedBy: .ofSource("every \(interval)", fileID, line))
  }

  func broadcaster(
    every interval: Swift.Duration, watchedBy lineage: Lineage?
  ) -> Broadcaster<Swift.Duration> {
    if interval <= .zero {
      misuse("'broadcaster(every:)' requires an interval longer than 0, not \(interval).")
    }
    let interval = min(interval, .longestWait)
    let timekeeper = Timekeeper(self)
    return Publisher(watchedBy: lineage, value: .none) { receive in
      let start = timekeeper.now()
      let ticks = Delivery<Swift.Duration>()
      let alarm = Alarm(timekeeper) { ticks.send($0) }
      let gate = ticks.subscribe { instant in
        let next = next(after: instant, every: interval, notBefore: timekeeper.now())
        if next <= .longestWait { alarm.set(to: next, from: instant) }
        receive(instant - start)
      }
      alarm.set(to: start + interval, from: start)
      return Subscription(gate: gate, inputs: [Subscription { alarm.end() }])
    }
  }
}

/// Returns the next multiple of the interval in the future.
///
/// The result is exact after any number of skipped multiples.
func next(
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
