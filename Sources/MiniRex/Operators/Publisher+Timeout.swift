extension Publisher where Kind == TaskKind {
  /// Fails with ``TimeoutError/timedOut`` if there is no result in time, and cancels the task then.
  ///
  /// ```swift
  /// let user = fetch.timeout(after: .seconds(5), clock: clock)
  /// ```
  ///
  /// It is a task of its own, shared by its subscribers: the first one subscribes to this task, and
  /// the time counts from then on. When the last one leaves, or the time is up, its subscription to
  /// this task ends, which cancels the work unless others are subscribed to it. It calls where this
  /// task does, or where the clock does when the time is up.
  ///
  /// - Parameters:
  ///   - duration: With 0, a result must come inside `subscribe`, or before the clock is next
  ///     able to call; a negative one stops the program.
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
  /// Fails with ``TimeoutError/timedOut`` if there is no result in time, and cancels the task then.
  ///
  /// Progress passes through, and does not prolong the time. Otherwise it is like the `timeout` of
  /// a ``PublishedTask``.
  public func timeout<Progress: Sendable, Success: Sendable, Failure: Error>(
    after duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> ProgressiveTask<Progress, Success, TimeoutError<Failure>>
  where Update == TaskUpdate<Progress, Success, Failure> {
    Publisher<TaskUpdate<Progress, Success, TimeoutError<Failure>>, ProgressiveTaskKind>(
      of: lineages,
      sharing: limited(to: duration, by: clock, timedOut: .finished(.failure(.timedOut))) {
        update, inlet in
        switch update {
        case .progress(let progress): inlet.report(.progress(progress))
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
      // Without the timer nobody keeps the inlet of a task that has ended without a result.
      let input = follow({ pass($0, inlet) }, onEnd: { timer.invalidate() })
      return Subscription {
        input.invalidate()
        timer.invalidate()
      }
    }
  }
}
