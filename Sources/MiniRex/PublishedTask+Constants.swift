extension Publisher where Kind == TaskKind {
  /// A task that never has a result, and never ends.
  public static var never: Publisher {
    let storage = TaskStorage<Update>()
    return Publisher(current: { nil }) { storage.subscribe($0) }
  }

  /// A task that has succeeded, and cannot fail.
  public static func success<Success: Sendable>(
    _ value: Success
  ) -> PublishedTask<Success, Never> where Update == Result<Success, Never> {
    finished(.success(value))
  }

  /// A task that has succeeded, with the type of failure that you say.
  public static func success<Success: Sendable, Failure: Error>(
    _ value: Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.success(value))
  }

  /// A task that has failed.
  public static func failure<Success: Sendable, Failure: Error>(
    _ error: Failure
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.failure(error))
  }

  /// A task that succeeds when a delay has passed, and cannot fail.
  ///
  /// The delay begins with the first subscriber, once for all; when the last one leaves before it
  /// has passed, its timer ends, and the next subscriber begins anew. It calls where the clock
  /// does. A negative delay stops the program.
  public static func success<Success: Sendable>(
    _ value: Success, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Never> where Update == Result<Success, Never> {
    finished(.success(value), after: delay, clock: clock)
  }

  /// A task that succeeds when a delay has passed, with the type of failure that you say.
  ///
  /// Otherwise it is like the form that cannot fail.
  public static func success<Success: Sendable, Failure: Error>(
    _ value: Success, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.success(value), after: delay, clock: clock)
  }

  /// A task that fails when a delay has passed.
  ///
  /// The delay is the one of a task that succeeds: it begins with the first subscriber, once for
  /// all.
  public static func failure<Success: Sendable, Failure: Error>(
    _ error: Failure, after delay: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    finished(.failure(error), after: delay, clock: clock)
  }

  private static func finished(_ result: Update) -> Publisher {
    Publisher(current: { nil }) { receive in
      receive(result)
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
