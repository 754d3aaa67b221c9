extension Publisher where Kind == ProgressiveTaskKind {
  /// Emits at most one progress per interval, and the result immediately.
  ///
  /// ```swift
  /// let shown = download.throttleProgress(for: .milliseconds(100), clock: clock)
  /// ```
  ///
  /// The first progress is emitted immediately, and starts an interval. Of each interval, the latest
  /// progress is emitted at its end. The result drops a pending progress. Callbacks run where the
  /// task runs them, and for a progress that waited, where the clock runs them. Each subscriber has
  /// one timer, which stops with its subscription. The work still runs once.
  ///
  /// - Parameters:
  ///   - interval: The minimum time between two emissions of progress. With 0, every progress is
  ///     emitted. Traps if negative.
  ///   - clock: The only source of time.
  public func throttleProgress<Progress: Sendable, Success: Sendable, Failure: Error>(
    for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    let interval = clampedWait(interval, of: "throttleProgress")
    let timekeeper = Timekeeper(clock)
    return Publisher(of: self, value: .none) { receive in
      let state = SerialState(ThrottledProgress<Progress>())
      let begin: @Sendable (Progress) -> Void = { progress in
        unsafe state.value.intervalEnd = timekeeper.now() + interval
        receive(.progress(progress))
      }
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(.progress(let progress), let now):
          let end = unsafe state.value.intervalEnd ?? now
          if unsafe state.value.pending == nil, end <= now {
            begin(progress)
          } else {
            if unsafe state.value.pending == nil { alarm.set(to: end, from: now) }
            unsafe state.value.pending = Carried(progress)
          }
          return true
        case .update(.finished(let result), _):
          unsafe state.value.pending = nil
          receive(.finished(result))
          return false
        case .ring:
          unsafe state.value.pending.take()?.deliver(begin)
          return true
        case .end: return false
        }
      }
    }
  }
}

private struct ThrottledProgress<Progress: Sendable>: Sendable {
  /// `nil` before the first progress.
  var intervalEnd: Duration?
  var pending: Carried<Progress>?
}
