extension Publisher where Kind == TaskKind {
  /// Goes on with another task after a success.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for each
  /// run. When the last subscriber leaves before the result, the task that is running then is left,
  /// which cancels it unless somebody else is subscribed to it.
  public func flatMap<Success, NewSuccess, Failure>(
    _ transform: @escaping @Sendable (Success) -> PublishedTask<NewSuccess, Failure>
  ) -> PublishedTask<NewSuccess, Failure> where Update == Result<Success, Failure> {
    PublishedTask<NewSuccess, Failure>(
      of: lineages,
      sharing: SharedWork { inlet, bag in
        let context = contextOfInner
        follow { result in
          switch result {
          case .success(let value):
            transform(value).follow(in: context) { inlet.finish($0) }.store(in: bag)
          case .failure(let error):
            inlet.finish(.failure(error))
          }
        }.store(in: bag)
      })
  }

  /// Goes on with another task after a failure.
  ///
  /// It is a task of its own, shared by its subscribers: `transform` is called at most once for each
  /// run. Return `.success(value)` for a value to use instead. What cancels the work is as
  /// for `flatMap`.
  public func recover<Success, Failure, NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> PublishedTask<Success, NewFailure>
  ) -> PublishedTask<Success, NewFailure> where Update == Result<Success, Failure> {
    PublishedTask<Success, NewFailure>(
      of: lineages,
      sharing: SharedWork { inlet, bag in
        let context = contextOfInner
        follow { result in
          switch result {
          case .success(let value):
            inlet.finish(.success(value))
          case .failure(let error):
            transform(error).follow(in: context) { inlet.finish($0) }.store(in: bag)
          }
        }.store(in: bag)
      })
  }
}
