extension Publisher where Kind == ProgressiveTaskKind {
  /// A task that never emits and never finishes.
  ///
  /// Where several kinds fit, as in `merge(publisher, .never)`, `.never` is a broadcaster.
  @_disfavoredOverload
  public static var never: Publisher {
    let storage = TaskStorage<Update>()
    return Publisher(value: .none) { storage.subscribe($0) }
  }

  /// Creates a task that has succeeded and cannot fail.
  public static func success<Progress: Sendable, Success: Sendable>(
    _ value: Success
  ) -> ProgressiveTask<Progress, Success, Never>
  where Update == TaskUpdate<Progress, Success, Never> {
    sequence([], .success(value))
  }

  /// Creates a task that has succeeded, with the given failure type.
  public static func success<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ value: Success
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    sequence([], .success(value))
  }

  /// Creates a task that has failed.
  public static func failure<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ error: Failure
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    sequence([], .failure(error))
  }

  /// Creates a task that emits progress and a result inside `subscribe`.
  public static func sequence<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ progress: [Progress], _ result: Result<Success, Failure>
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    let updates = SharedChainLink((progress, result))
    return Publisher(value: .none) { receive in
      let (progress, result) = updates.content
      for amount in progress { receive(.progress(amount)) }
      receive(.finished(result))
      return .ended
    }
  }

  /// Creates a task that emits progress, one value per interval, and its result one interval later.
  ///
  /// The first subscriber starts one timer for all subscribers. Canceling the last subscription
  /// before the result stops the timer, and the next subscriber starts again. Callbacks run where
  /// the clock runs them. Traps if the interval is not longer than 0.
  public static func sequence<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ progress: [Progress], _ result: Result<Success, Failure>, every interval: Duration,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    let updates = progress.map { Update.progress($0) } + [.finished(result)]
    let steps = Broadcaster.sequence(updates, every: interval, clock: clock)
    return Publisher(
      sharing: SharedWork { inlet in
        steps.subscribe { step in
          if case .finished = step { inlet.finish(step) } else { inlet.report(step) }
        }
      })
  }
}
