extension Publisher where Kind == ProgressiveTaskKind {
  /// Creates a task from an async function that reports its progress.
  ///
  /// A subscriber that joins during the work receives the latest progress immediately. See
  /// ``PublishedTask`` for the start, the sharing, and the cancellation of the work.
  public init<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ work:
      @escaping @Sendable (
        _ report: @escaping @Sendable (Progress) -> Void
      ) async throws(Failure) -> Success
  ) where Update == TaskUpdate<Progress, Success, Failure> {
    self.init(.whileSubscribed, work)
  }

  /// Creates a task from an async function that reports its progress, with a lifetime for its work.
  public init<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ lifetime: TaskLifetime,
    _ work:
      @escaping @Sendable (
        _ report: @escaping @Sendable (Progress) -> Void
      ) async throws(Failure) -> Success
  ) where Update == TaskUpdate<Progress, Success, Failure> {
    self.init(
      sharing: SharedWork(lifetime) { inlet in
        let report: @Sendable (Progress) -> Void = { inlet.report(.progress($0)) }
        return WorkHandle.run {
          await outcome { () async throws(Failure) in try await work(report) }
        } finish: {
          inlet.finish(.finished($0))
        }
      })
  }

  /// Creates a task from a function that calls back with progress and a result.
  ///
  /// - Parameter start: A closure that runs once for the first subscriber, inside `subscribe`. See
  ///   the same initializer of ``PublishedTask``.
  public init<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ start:
      @escaping @Sendable (
        _ report: @escaping @Sendable (Progress) -> Void,
        _ finish: @escaping @Sendable (Result<Success, Failure>) -> Void
      ) -> Subscription
  ) where Update == TaskUpdate<Progress, Success, Failure> {
    self.init(
      sharing: SharedWork { inlet in
        start({ inlet.report(.progress($0)) }, { inlet.finish(.finished($0)) })
      })
  }
}
