extension Publisher where Kind == TaskKind {
  /// Fails with ``TimeoutError/timedOut`` if the task has no result after `duration`, and cancels
  /// the task.
  ///
  /// ```swift
  /// let user = fetch.timeout(after: .seconds(5), clock: clock)
  /// ```
  ///
  /// ![timeout fails exactly after its duration](timeout.svg)
  ///
  /// Subscribers share one run: the first one subscribes to the task and starts the timer.
  /// Canceling the last subscription, or the timeout, cancels the subscription to the task. That
  /// cancels its work, unless other subscribers use it or its lifetime is
  /// ``TaskLifetime/keepsRunning``. Callbacks run where the task runs them, or where the clock runs
  /// them after a timeout.
  ///
  /// - Parameters:
  ///   - duration: The maximum time. With 0, the result must arrive inside `subscribe`, or before
  ///     the clock runs. Traps if negative.
  ///   - clock: The only source of time.
  public func timeout<Success: Sendable, Failure: Error>(
    after duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, TimeoutError<Failure>> where Update == Result<Success, Failure> {
    Publisher<Result<Success, TimeoutError<Failure>>, TaskKind>(
      of: lineages,
      sharing: limited(to: duration, by: clock, timedOut: .failure(.timedOut)) { result, inlet in
        inlet.finish(result.mapError { .failed($0) })
      })
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Fails with ``TimeoutError/timedOut`` if the task has no result after `duration`, and cancels
  /// the task.
  ///
  /// Progress is emitted and does not extend the time. See the `timeout` of a ``PublishedTask``.
  public func timeout<Progress: Sendable, Success: Sendable, Failure: Error>(
    after duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> ProgressiveTask<Progress, Success, TimeoutError<Failure>>
  where Update == TaskUpdate<Progress, Success, Failure> {
    Publisher<TaskUpdate<Progress, Success, TimeoutError<Failure>>, ProgressiveTaskKind>(
      of: lineages,
      sharing: limited(to: duration, by: clock, timedOut: .finished(.failure(.timedOut))) {
        update, inlet in
        switch update {
        case .progress(let progress): inlet.relay(.progress(progress))
        case .finished(let result): inlet.finish(.finished(result.mapError { .failed($0) }))
        }
      })
  }
}

extension Publisher {
  fileprivate func limited<Output: Sendable>(
    to duration: Duration, by clock: any Clock<Duration>, timedOut: Output,
    pass: @escaping @Sendable (Update, WorkInlet<Output>) -> Void
  ) -> SharedWork<Output> {
    let duration = clampedWait(duration, of: "timeout")
    let timekeeper = Timekeeper(clock)
    return SharedWork { inlet in
      let timer = timekeeper.wake(after: duration) { inlet.finish(timedOut) }
      // The timer would retain the inlet of a task that has ended without a result.
      let input = follow({ pass($0, inlet) }, onEnd: { timer.invalidate() })
      return Subscription {
        input.invalidate()
        timer.invalidate()
      }
    }
  }
}
