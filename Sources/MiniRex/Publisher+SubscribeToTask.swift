// A closure that stands alone and has no label gets the whole update, whatever its body says. So
// where there may be failures, `failure:` cannot be left out: `success:` alone would fit that closure
// as well. Where there are none, no parameter is required; then the compiler gives it to the first
// that takes a closure, which takes none of one argument.

extension Publisher where Kind == TaskKind {
  /// Calls `success` or `failure` with the result; if both are `nil`, it does not subscribe.
  ///
  /// Write `failure: nil` to take no notice of a failure.
  ///
  /// - Returns: The token; ``Subscription/ended`` if all closures are `nil`.
  public func subscribe<Success, Failure>(
    success: (@Sendable (Success) -> Void)?, failure: (@Sendable (Failure) -> Void)?,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == Result<Success, Failure> {
    if success == nil, failure == nil { return .ended }
    return subscribe(as: "subscribe", fileID, line) {
      follow { $0.take(success: success, failure: failure) }
    }
  }

  /// Calls `success` with the result of a task that cannot fail; without it, it does not subscribe.
  ///
  /// - Parameters:
  ///   - unlabelled: Nothing: it keeps a closure without a label from being taken for `success`.
  ///   - success: Called with the result.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  /// - Returns: The token; ``Subscription/ended`` if `success` is `nil`.
  public func subscribe<Success>(
    _ unlabelled: ((Never, Never) -> Never)? = nil,
    success: (@Sendable (Success) -> Void)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == Result<Success, Never> {
    subscribe(success: success, failure: nil, fileID: fileID, line: line)
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Calls `progress` while there is any, then `success` or `failure`; if all are `nil`, it does
  /// not subscribe.
  ///
  /// Write `failure: nil` to take no notice of a failure.
  ///
  /// - Returns: The token; ``Subscription/ended`` if all closures are `nil`.
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

  /// Calls `progress` while there is any, then `success`, of a task that cannot fail; without any,
  /// it does not subscribe.
  ///
  /// - Parameters:
  ///   - unlabelled: Nothing: it keeps a closure without a label from being taken for another.
  ///   - success: Called with the result.
  ///   - progress: Called with each progress.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  /// - Returns: The token; ``Subscription/ended`` if all closures are `nil`.
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
