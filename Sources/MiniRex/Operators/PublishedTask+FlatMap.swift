extension Publisher where Kind == TaskKind {
  /// Continues with another task after a success.
  ///
  /// ```swift
  /// let picture = user.flatMap { user in loadPicture(of: user) }
  /// ```
  ///
  /// ![flatMap continues with another task after a success](flatMap-task.svg)
  ///
  /// Subscribers share one run, so `transform` runs at most once per run. Canceling the last
  /// subscription before the result cancels the subscription to the current task. That cancels its
  /// work, unless other subscribers use it or its lifetime is ``TaskLifetime/keepsRunning``.
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

  /// Continues with another task after a failure.
  ///
  /// ```swift
  /// let shown = picture.recover { _ in .success(Picture.placeholder) }
  /// ```
  ///
  /// ![recover continues with another task after a failure](recover.svg)
  ///
  /// Subscribers share one run, so `transform` runs at most once per run. Return `.success(value)`
  /// for a replacement value. Canceling the last subscription before the result cancels the
  /// subscription to the current task. That cancels its work, unless other subscribers use it or its
  /// lifetime is ``TaskLifetime/keepsRunning``.
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
  /// Continues with another task after a success, and emits the progress of both.
  ///
  /// Subscribers share one run, so `transform` runs at most once per run. Canceling the last
  /// subscription before the result cancels the subscription to the current task. That cancels its
  /// work, unless other subscribers use it or its lifetime is ``TaskLifetime/keepsRunning``.
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

  /// Continues with another task after a failure, and emits the progress of both.
  ///
  /// Subscribers share one run, so `transform` runs at most once per run. Canceling the last
  /// subscription before the result cancels the subscription to the current task. That cancels its
  /// work, unless other subscribers use it or its lifetime is ``TaskLifetime/keepsRunning``.
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

/// The step that follows an update of the first task.
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
      sharing: SharedWork { inlet in
        let context = contextOfInner
        let chain = TaskChain<Output> { $0.tell($1) }
        chain.begin(inlet) {
          follow { update in
            switch ReleaseChain.interrupted(by: { step(update) }) {
            case .tell(let output): inlet.tell(output)
            case .goOn(let task): chain.proceed(with: NextTask(task, in: context), inlet)
            }
          }
        }
        return Subscription(chain)
      })
  }
}

extension WorkInlet where Update: TaskOutcome {
  /// Reports progress, or finishes.
  fileprivate func tell(_ update: Update) {
    if update.finalResult == nil { relay(update) } else { finish(update) }
  }
}

extension NextTask {
  fileprivate init<Kind>(_ task: Publisher<Output, Kind>, in context: WatchContext?) {
    self.init(
      follow: { task.follow(in: context, $0) },
      canBeHandedOver: context == nil && task.lineage == nil)
  }
}
