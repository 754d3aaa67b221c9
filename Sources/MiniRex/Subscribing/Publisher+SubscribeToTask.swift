// A lone closure without a label receives the entire update. `success:` alone would match that
// closure as well, so `failure:` is required for tasks that can fail. For other tasks, the first
// parameter takes an unlabeled closure and accepts none with one argument.

extension Publisher where Kind == TaskKind {
  /// Subscribes with one callback for the success and one for the failure.
  ///
  /// Pass `failure: nil` to ignore failures.
  ///
  /// - Returns: The subscription, or ``Subscription/ended-swift.type.property`` if all closures are `nil`. Then it does
  ///   not subscribe.
  public func subscribe<Success, Failure>(
    success: (@Sendable (Success) -> Void)?, failure: (@Sendable (Failure) -> Void)?,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == Result<Success, Failure> {
    if success == nil, failure == nil { return .ended }
    return subscribe(as: "subscribe", fileID, line) {
      follow { $0.take(success: success, failure: failure) }
    }
  }

  /// Subscribes to a task that cannot fail, with a callback for its success.
  ///
  /// - Parameters:
  ///   - unlabelled: Unused. It prevents a closure without a label from matching `success`.
  ///   - success: The callback.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  /// - Returns: The subscription, or ``Subscription/ended-swift.type.property`` if `success` is `nil`. Then it does not
  ///   subscribe.
  public func subscribe<Success>(
    _ unlabelled: ((Never, Never) -> Never)? = nil,
    success: (@Sendable (Success) -> Void)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == Result<Success, Never> {
    subscribe(success: success, failure: nil, fileID: fileID, line: line)
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Subscribes with callbacks for progress, success, and failure.
  ///
  /// Pass `failure: nil` to ignore failures.
  ///
  /// - Returns: The subscription, or ``Subscription/ended-swift.type.property`` if all closures are `nil`. Then it does
  ///   not subscribe.
  public func subscribe<Progress, Success, Failure>(
    success: (@Sendable (Success) -> Void)?, failure: (@Sendable (Failure) -> Void)?,
    progress: (@Sendable (Progress) -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == TaskUpdate<Progress, Success, Failure> {
    if success == nil, failure == nil, progress == nil { return .ended }
    return subscribe(as: "subscribe", fileID, line) {
      follow { update in
        switch update {
        case .progress(let amount): progress?(amount)
        case .finished(let result): result.take(success: success, failure: failure)
        }
      }
    }
  }

  /// Subscribes with a callback for progress, and ignores the result.
  ///
  /// ```swift
  /// let bar = download.subscribe(failure: nil) { show($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - failure: `nil`, which states that a failure is ignored.
  ///   - progress: The callback for progress.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func subscribe<Progress, Success, Failure>(
    failure: Never?, progress: @escaping @Sendable (Progress) -> Void, fileID: String = #fileID,
    line: Int = #line
  ) -> Subscription where Update == TaskUpdate<Progress, Success, Failure> {
    subscribe(success: nil, failure: nil, progress: progress, fileID: fileID, line: line)
  }

  /// Subscribes to a task that cannot fail, with callbacks for progress and success.
  ///
  /// - Parameters:
  ///   - unlabelled: Unused. It prevents a closure without a label from matching another parameter.
  ///   - success: The callback for the success.
  ///   - progress: The callback for progress.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  /// - Returns: The subscription, or ``Subscription/ended-swift.type.property`` if all closures are `nil`. Then it does
  ///   not subscribe.
  public func subscribe<Progress, Success>(
    _ unlabelled: ((Never, Never) -> Never)? = nil,
    success: (@Sendable (Success) -> Void)? = nil,
    progress: (@Sendable (Progress) -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == TaskUpdate<Progress, Success, Never> {
    subscribe(success: success, failure: nil, progress: progress, fileID: fileID, line: line)
  }
}

extension Result {
  fileprivate func take(success: ((Success) -> Void)?, failure: ((Failure) -> Void)?) {
    switch self {
    case .success(let value): success?(value)
    case .failure(let error): failure?(error)
    }
  }
}
