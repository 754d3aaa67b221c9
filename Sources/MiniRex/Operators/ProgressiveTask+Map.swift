extension Publisher where Kind == ProgressiveTaskKind {
  /// Transforms the success.
  ///
  /// `transform` runs once per subscriber. The work still runs once.
  public func map<Progress, Success, NewSuccess: Sendable, Failure>(
    _ transform: @escaping @Sendable (Success) -> NewSuccess
  ) -> ProgressiveTask<Progress, NewSuccess, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    mapUpdate {
      .progress($0)
    } result: {
      $0.map(transform)
    }
  }

  /// Transforms the failure.
  ///
  /// `transform` runs once per subscriber. The work still runs once.
  public func mapError<Progress, Success, Failure, NewFailure: Error>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> ProgressiveTask<Progress, Success, NewFailure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    mapUpdate {
      .progress($0)
    } result: {
      $0.mapError(transform)
    }
  }

  /// Transforms the progress.
  ///
  /// `transform` runs once per subscriber and update. The work still runs once.
  public func mapProgress<Progress, NewProgress: Sendable, Success, Failure>(
    _ transform: @escaping @Sendable (Progress) -> NewProgress
  ) -> ProgressiveTask<NewProgress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    mapUpdate {
      .progress(transform($0))
    } result: {
      $0
    }
  }

  /// Returns a task without progress.
  ///
  /// Both tasks share the same run of the work.
  public func withoutProgress<Progress, Success, Failure>() -> PublishedTask<Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    PublishedTask(of: self, value: .none) { receive in
      follow { if case .finished(let result) = $0 { receive(result) } }
    }
  }

  /// Creates a progressive task without progress.
  public init<Progress, Success, Failure>(_ task: PublishedTask<Success, Failure>)
  where Update == TaskUpdate<Progress, Success, Failure> {
    self.init(of: task, by: "ProgressiveTask", value: .none) { receive in
      task.follow { receive(.finished($0)) }
    }
  }

  private func mapUpdate<Progress, Success, Failure, NewProgress, NewSuccess, NewFailure>(
    progress: @escaping @Sendable (Progress) -> TaskUpdate<NewProgress, NewSuccess, NewFailure>,
    result: @escaping @Sendable (Result<Success, Failure>) -> Result<NewSuccess, NewFailure>,
    by function: String = #function
  ) -> ProgressiveTask<NewProgress, NewSuccess, NewFailure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    ProgressiveTask<NewProgress, NewSuccess, NewFailure>(
      of: self, by: function, value: .none
    ) { receive in
      follow { update in
        switch update {
        case .progress(let amount): receive(progress(amount))
        case .finished(let outcome): receive(.finished(result(outcome)))
        }
      }
    }
  }
}
