public import Dispatch
public import MiniRex

extension DispatchQueue {
  /// A broadcaster that calls on the queue after each interval, with the time since its
  /// subscription.
  ///
  /// ```swift
  /// let beat = queue.broadcaster(every: .seconds(30), leeway: .seconds(1)).subscribe { print($0) }
  /// ```
  ///
  /// Every subscriber has a timer source of its own, which goes with its subscription, even when
  /// the queue never runs. Calls are due at whole multiples of the interval, so they do not drift;
  /// multiples that have passed before the queue was free are left out. The publisher keeps the
  /// queue, which on Linux may be all that does, even for `DispatchQueue.global()`. The time does
  /// not pass while the machine sleeps. Tests are easier with `clock.broadcaster(every:)`, which
  /// takes any clock.
  ///
  /// - Parameters:
  ///   - interval: One that is not longer than 0 stops the program.
  ///   - leeway: How late a call may be, to save energy.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster(
    every interval: Duration, leeway: Duration = .zero, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Duration> {
    if interval <= .zero {
      misuse("'broadcaster(every:leeway:)' takes an interval longer than 0, not \(interval).")
    }
    let period = dispatchInterval(interval, of: "broadcaster(every:leeway:)")
    let tolerance = dispatchInterval(leeway, of: "broadcaster(every:leeway:)")
    return Broadcaster(watchedBy: .ofSource("every \(interval)", fileID, line)) { receive in
      // Any thread may cancel a source, but its type does not say so.
      nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: self)
      // A source calls one at a time, but on a concurrent queue from one thread after another.
      let elapsed = Lock(Duration.zero)
      unsafe timer.setEventHandler {
        let missed = unsafe Int(timer.data)
        let now = elapsed.withLock { elapsed in
          elapsed += interval * missed
          return elapsed
        }
        receive(now)
      }
      unsafe timer.schedule(deadline: .now() + period, repeating: period, leeway: tolerance)
      unsafe timer.activate()
      return Subscription { unsafe timer.cancel() }
    }
  }
}
