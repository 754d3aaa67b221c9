extension Publisher where Kind == TaskKind {
  /// Calls `success` or `failure` with the result; with neither, it does not subscribe.
  ///
  /// - Returns: The token; ``Subscription/ended`` if all closures are `nil`.
  public func subscribe<Success, Failure>(
    success: (@Sendable (Success) -> Void)? = nil, failure: (@Sendable (Failure) -> Void)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == Result<Success, Failure> {
    if success == nil, failure == nil { return .ended }
    return subscribe(as: "subscribe", fileID, line) {
      follow { result in
        switch result {
        case .success(let value): success?(value)
        case .failure(let error): failure?(error)
        }
      }
    }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Calls `progress` while there is any, then `success` or `failure`; without any, it does not
  /// subscribe.
  ///
  /// - Returns: The token; ``Subscription/ended`` if all closures are `nil`.
  public func subscribe<Progress, Success, Failure>(
    success: (@Sendable (Success) -> Void)? = nil, failure: (@Sendable (Failure) -> Void)? = nil,
    progress: (@Sendable (Progress) -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription where Update == TaskUpdate<Progress, Success, Failure> {
    if success == nil, failure == nil, progress == nil { return .ended }
    return subscribe(as: "subscribe", fileID, line) {
      follow { update in
        switch update {
        case .progress(let amount): progress?(amount)
        case .finished(.success(let value)): success?(value)
        case .finished(.failure(let error)): failure?(error)
        }
      }
    }
  }
}
