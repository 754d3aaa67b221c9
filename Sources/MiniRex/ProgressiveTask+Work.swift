extension Publisher where Kind == ProgressiveTaskKind {
  /// Makes a task of an async function that reports how far it is.
  ///
  /// Whoever subscribes while the work runs gets the latest progress at once. When it runs, how
  /// often and what cancels it is as for ``PublishedTask``.
  public init<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ work:
      @escaping @Sendable (
        _ report: @escaping @Sendable (Progress) -> Void
      ) async throws(Failure) -> Success
  ) where Update == TaskUpdate<Progress, Success, Failure> {
    self.init(.whileSubscribed, work)
  }

  /// Makes a task of an async function that reports how far it is, and says what becomes of it when
  /// nobody is subscribed.
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
        return Errand.run {
          await outcome { () async throws(Failure) in try await work(report) }
        } finish: {
          inlet.finish(.finished($0))
        }
      })
  }

  /// Makes a task of something that calls back with progress and a result.
  ///
  /// - Parameter start: Called once for the first subscriber, inside `subscribe`. Otherwise it is
  ///   like that of a ``PublishedTask``.
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
