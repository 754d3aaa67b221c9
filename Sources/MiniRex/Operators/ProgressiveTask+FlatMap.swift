extension Publisher where Kind == ProgressiveTaskKind {
  /// Goes on with another task after a success, whose progress follows that of this one.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for each
  /// run. When the last subscriber leaves before the result, the task that is running then is left,
  /// which cancels it unless somebody else is subscribed to it.
  public func flatMap<Progress, Success, NewSuccess, Failure>(
    _ transform: @escaping @Sendable (Success) -> ProgressiveTask<Progress, NewSuccess, Failure>
  ) -> ProgressiveTask<Progress, NewSuccess, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    ProgressiveTask<Progress, NewSuccess, Failure>(
      of: lineages,
      sharing: SharedWork { inlet, bag in
        let context = contextOfInner
        follow { update in
          switch update {
          case .progress(let progress):
            inlet.report(.progress(progress))
          case .finished(.success(let value)):
            transform(value).follow(in: context) { inlet.pass($0) }.store(in: bag)
          case .finished(.failure(let error)):
            inlet.finish(.finished(.failure(error)))
          }
        }.store(in: bag)
      })
  }

  /// Goes on with another task after a failure, whose progress follows that of this one.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for each
  /// run. What cancels the work is as for `flatMap`.
  public func recover<Progress, Success, Failure, NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> ProgressiveTask<Progress, Success, NewFailure>
  ) -> ProgressiveTask<Progress, Success, NewFailure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    ProgressiveTask<Progress, Success, NewFailure>(
      of: lineages,
      sharing: SharedWork { inlet, bag in
        let context = contextOfInner
        follow { update in
          switch update {
          case .progress(let progress):
            inlet.report(.progress(progress))
          case .finished(.success(let value)):
            inlet.finish(.finished(.success(value)))
          case .finished(.failure(let error)):
            transform(error).follow(in: context) { inlet.pass($0) }.store(in: bag)
          }
        }.store(in: bag)
      })
  }
}

extension WorkInlet {
  /// Reports progress, or finishes.
  fileprivate func pass<Progress, Success, Failure>(_ update: Update)
  where Update == TaskUpdate<Progress, Success, Failure> {
    switch update {
    case .progress: report(update)
    case .finished: finish(update)
    }
  }
}
