extension Publisher where Kind == TaskKind {
  /// A task that never has a result and never finishes.
  ///
  /// Where several kinds fit, as in `merge(publisher, .never)`, `.never` is a broadcaster.
  @_disfavoredOverload
  public static var never: Publisher {
    let storage = TaskStorage<Update>()
    return Publisher(value: .none) { storage.subscribe($0) }
  }

  /// Creates a task that has succeeded and cannot fail.
  public static func success<Success: Sendable>(
    _ value: Success
  ) -> PublishedTask<Success, Never> where Update == Result<Success, Never> {
    finished(.success(value))
  }

  /// Creates a task that has succeeded, with the given failure type.
  public static func success<Success: Sendable, Failure: Error>(
    _ value: Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.success(value))
  }

  /// Creates a task that has failed.
  public static func failure<Success: Sendable, Failure: Error>(
    _ error: Failure
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.failure(error))
  }

  /// Creates a task that succeeds after a delay and cannot fail.
  ///
  /// The first subscriber starts the delay for all subscribers. Canceling the last subscription
  /// before the result stops the timer, and the next subscriber starts again. Callbacks run where
  /// the clock runs them. Traps if the delay is negative.
  public static func success<Success: Sendable>(
    _ value: Success, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Never> where Update == Result<Success, Never> {
    finished(.success(value), after: delay, clock: clock)
  }

  /// Creates a task that succeeds after a delay, with the given failure type.
  ///
  /// See the overload that cannot fail for the delay.
  public static func success<Success: Sendable, Failure: Error>(
    _ value: Success, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.success(value), after: delay, clock: clock)
  }

  /// Creates a task that fails after a delay.
  ///
  /// The first subscriber starts the delay for all subscribers.
  public static func failure<Success: Sendable, Failure: Error>(
    _ error: Failure, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.failure(error), after: delay, clock: clock)
  }

  private static func finished(_ result: Update) -> Publisher {
    let result = SharedChainLink(result)
    return Publisher(value: .none) { receive in
      receive(result.content)
      return .ended
    }
  }

  private static func finished(
    _ result: Update, after delay: Duration, clock: any Clock<Duration>
  ) -> Publisher {
    let delay = clampedWait(delay, of: "after")
    let timekeeper = Timekeeper(clock)
    return Publisher(
      sharing: SharedWork { inlet in timekeeper.wake(after: delay) { inlet.finish(result) } })
  }
}
