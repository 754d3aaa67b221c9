extension Publisher where Kind == TaskKind {
  /// Goes on with another task after a success.
  ///
  /// ```swift
  /// let picture = user.flatMap { user in loadPicture(of: user) }
  /// ```
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for
  /// each run. When the last subscriber leaves before the result, the task that is running then is
  /// left, which cancels it unless somebody else is subscribed to it.
  public func flatMap<Success, NewSuccess, Failure>(
    _ transform: @escaping @Sendable (Success) -> PublishedTask<NewSuccess, Failure>
  ) -> PublishedTask<NewSuccess, Failure> where Update == Result<Success, Failure> {
    goingOn { result in
      switch result {
      case .success(let value): .goOn(with: transform(value))
      case .failure(let error): .tell(.failure(error))
      }
    }
  }

  /// Goes on with another task after a failure.
  ///
  /// ```swift
  /// let shown = picture.recover { _ in .success(Picture.placeholder) }
  /// ```
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for
  /// each run. Return `.success(value)` for a value to use instead. What cancels the work is as for
  /// `flatMap`.
  public func recover<Success, Failure, NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> PublishedTask<Success, NewFailure>
  ) -> PublishedTask<Success, NewFailure> where Update == Result<Success, Failure> {
    goingOn { result in
      switch result {
      case .success(let value): .tell(.success(value))
      case .failure(let error): .goOn(with: transform(error))
      }
    }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Goes on with another task after a success, whose progress follows that of this one.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for
  /// each run. When the last subscriber leaves before the result, the task that is running then is
  /// left, which cancels it unless somebody else is subscribed to it.
  public func flatMap<Progress, Success, NewSuccess, Failure>(
    _ transform: @escaping @Sendable (Success) -> ProgressiveTask<Progress, NewSuccess, Failure>
  ) -> ProgressiveTask<Progress, NewSuccess, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    goingOn { update in
      switch update {
      case .progress(let progress): .tell(.progress(progress))
      case .finished(.success(let value)): .goOn(with: transform(value))
      case .finished(.failure(let error)): .tell(.finished(.failure(error)))
      }
    }
  }

  /// Goes on with another task after a failure, whose progress follows that of this one.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for
  /// each run. What cancels the work is as for `flatMap`.
  public func recover<Progress, Success, Failure, NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> ProgressiveTask<Progress, Success, NewFailure>
  ) -> ProgressiveTask<Progress, Success, NewFailure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    goingOn { update in
      switch update {
      case .progress(let progress): .tell(.progress(progress))
      case .finished(.success(let value)): .tell(.finished(.success(value)))
      case .finished(.failure(let error)): .goOn(with: transform(error))
      }
    }
  }
}

/// What a task makes of an update of the task before it.
private enum NextStep<Output: TaskOutcome & Sendable, Kind: PublisherKind>: Sendable {
  case tell(Output)
  case goOn(with: Publisher<Output, Kind>)
}

extension Publisher {
  fileprivate func goingOn<Output>(
    by function: String = #function,
    _ step: @escaping @Sendable (Update) -> NextStep<Output, Kind>
  ) -> Publisher<Output, Kind> {
    Publisher<Output, Kind>(
      of: lineages, by: function,
      sharing: SharedWork { inlet, bag in
        let context = contextOfInner
        follow { update in
          switch step(update) {
          case .tell(let output): inlet.tell(output)
          case .goOn(let task): task.follow(in: context) { inlet.tell($0) }.store(in: bag)
          }
        }.store(in: bag)
      })
  }
}

extension WorkInlet where Update: TaskOutcome {
  /// Reports progress, or finishes.
  fileprivate func tell(_ update: Update) {
    if update.finalResult == nil { report(update) } else { finish(update) }
  }
}
