public import Dispatch
public import MiniRex

extension DispatchQueue {
  /// Creates a broadcaster that emits the time since the subscription on the queue, once per
  /// interval.
  ///
  /// ```swift
  /// let beat = queue.broadcaster(every: .seconds(30), leeway: .seconds(1)).subscribe { print($0) }
  /// ```
  ///
  /// Each subscriber has a separate timer source, which stops with its subscription, even if the
  /// queue never runs. Ticks are due at exact multiples of the interval, so they do not drift.
  /// Multiples that pass while the queue is busy are skipped. The publisher retains the queue. On
  /// Linux it may hold the only reference, even to `DispatchQueue.global()`. Time does not pass
  /// while the machine sleeps. Tests are easier with `clock.broadcaster(every:)`, which takes any
  /// clock.
  ///
  /// - Parameters:
  ///   - interval: The time between two ticks. Traps if it is not longer than 0.
  ///   - leeway: The permitted delay of a tick, which saves energy.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster(
    every interval: Duration, leeway: Duration = .zero, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Duration> {
    if interval <= .zero {
      misuse("'broadcaster(every:leeway:)' requires an interval longer than 0, not \(interval).")
    }
    let period = dispatchInterval(interval, of: "broadcaster(every:leeway:)")
    let tolerance = dispatchInterval(leeway, of: "broadcaster(every:leeway:)")
    return Broadcaster(watchedBy: .ofSource("every \(interval)", fileID, line)) { receive in
      // A dispatch source may be canceled on any thread, but its type is not `Sendable`.
      nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: self)
      // Events of a source are serial, but a concurrent queue runs them on different threads.
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
