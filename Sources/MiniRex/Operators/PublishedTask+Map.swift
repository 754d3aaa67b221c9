extension Publisher where Kind == TaskKind {
  /// Transforms the success.
  ///
  /// ![map of a task transforms a success and keeps a failure](map-task.svg)
  ///
  /// `transform` runs once per subscriber. The work still runs once.
  public func map<Success, NewSuccess: Sendable, Failure>(
    _ transform: @escaping @Sendable (Success) -> NewSuccess
  ) -> PublishedTask<NewSuccess, Failure> where Update == Result<Success, Failure> {
    PublishedTask<NewSuccess, Failure>(of: self, value: .none) { receive in
      follow { receive($0.map(transform)) }
    }
  }

  /// Transforms the failure.
  ///
  /// ![mapError of a task transforms a failure](mapError.svg)
  ///
  /// `transform` runs once per subscriber. The work still runs once.
  public func mapError<Success, Failure, NewFailure: Error>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> PublishedTask<Success, NewFailure> where Update == Result<Success, Failure> {
    PublishedTask<Success, NewFailure>(of: self, value: .none) { receive in
      follow { receive($0.mapError(transform)) }
    }
  }
}
