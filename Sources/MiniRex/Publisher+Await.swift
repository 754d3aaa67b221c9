extension Publisher where Kind == TaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// Waits for the result.
  ///
  /// It is `nil` if the task has ended without one, or if the Swift task that waits is cancelled.
  /// Waiting counts as a subscriber: it starts work that does not run, and leaving cancels that work
  /// unless others are subscribed. Who is cancelled before it waits does not start anything.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// Waits for the result, and returns its success or throws its failure.
  ///
  /// It throws a `CancellationError` where `result` is `nil`, which is why the type of what it throws
  /// is not that of the failure. Otherwise like `result`.
  public var value: Update.Success {
    get async throws { try await nextSuccess() }
  }
}

extension Publisher
where Kind == ProgressiveTaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// Waits for the result.
  ///
  /// Progress does not wake the one who waits. Otherwise like that of a ``PublishedTask``.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// Waits for the result, and returns its success or throws its failure.
  ///
  /// Like that of a ``PublishedTask``.
  public var value: Update.Success {
    get async throws { try await nextSuccess() }
  }
}

extension Publisher where Update: TaskOutcome, Update.Success: Sendable {
  fileprivate func nextResult() async -> Result<Update.Success, Update.Failure>? {
    if Task.isCancelled { return nil }
    let results = Broadcaster(trusting: self, by: "result") { receive in
      follow { if let result = $0.finalResult { receive(result) } }
    }
    var iterator = results.values(.unbounded, fileID: "await", line: 0).makeAsyncIterator()
    return await iterator.next(isolation: #isolation)
  }

  fileprivate func nextSuccess() async throws -> Update.Success {
    guard let result = await nextResult() else { throw CancellationError() }
    return try result.get()
  }
}
