extension Publisher where Kind == TaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// Waits for the result.
  ///
  /// It is `nil` if the task has ended without one, or if the Swift task that waits is cancelled.
  /// Waiting counts as a subscriber: it starts work that does not run, and leaving cancels that
  /// work unless others are subscribed; then it returns when the work has. A Swift task that is
  /// cancelled before it waits does not start anything. Work that waits for its own result waits
  /// for ever.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// Waits for the result, and returns its success or throws its failure.
  ///
  /// It throws a `CancellationError` where `result` is `nil`, which is why the type of what it
  /// throws is not that of the failure. Otherwise it is like `result`.
  public var value: Update.Success {
    get async throws { try await nextSuccess() }
  }
}

extension Publisher
where Kind == ProgressiveTaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// Waits for the result.
  ///
  /// Progress does not wake the Swift task that waits. Otherwise it is like that of a
  /// ``PublishedTask``.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// Waits for the result, and returns its success or throws its failure.
  ///
  /// It is like that of a ``PublishedTask``.
  public var value: Update.Success {
    get async throws { try await nextSuccess() }
  }
}

extension Publisher where Update: TaskOutcome, Update.Success: Sendable {
  fileprivate func nextResult() async -> Result<Update.Success, Update.Failure>? {
    if Task.isCancelled { return nil }
    let waiting = WaitingForResult<Result<Update.Success, Update.Failure>>()
    return await waiting.result(of: tell(waiting))
  }

  /// Not a part of the async function, which would keep the callback's sentinel while it waits.
  private func tell(
    _ waiting: WaitingForResult<Result<Update.Success, Update.Failure>>
  ) -> Subscription {
    let sentinel = Sentinel { waiting.end() }
    return subscribe(as: "result") {
      follow { update in
        withExtendedLifetime(sentinel) {
          if let result = update.finalResult { waiting.finish(result) }
        }
      }
    }
  }

  fileprivate func nextSuccess() async throws -> Update.Success {
    guard let result = await nextResult() else { throw CancellationError() }
    return try result.get()
  }
}

/// A Swift task that waits for a result, or until the work that it has left has come back.
private final class WaitingForResult<Result: Sendable>: Sendable {
  /// - open: the source may have a result to tell. Next: left or over.
  /// - left: the waiting task is cancelled; that the callback is released says nothing. Next: over.
  /// - over
  private enum Phase {
    case open
    case left
    case over
  }

  private struct State {
    var phase = Phase.open
    var result: Result?
    var waiter: Waiter?
  }

  private let state = Lock(State())

  func finish(_ result: Result) {
    state.withLock { $0.result = result }
    end(.open)
  }

  func end() {
    end(.open)
  }

  func result(of token: Subscription) async -> Result? {
    let asker = Errand.current
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        wait(for: unsafe Waiter(continuation))
      }
    } onCancel: {
      leave(token, asker: asker)
    }
    return state.withLock { $0.result.take() }
  }

  private func wait(for waiter: Waiter) {
    let isOver = state.withLock { state in
      if state.phase != .over { state.waiter = waiter }
      return state.phase == .over
    }
    if isOver { waiter.resume() }
  }

  private func leave(_ token: Subscription, asker: Errand?) {
    state.withLock { if $0.phase == .open { $0.phase = .left } }
    let drain = Drain(asker: asker)
    drain.end(token)
    if !drain.notify({ self.end(.left) }) { end(.left) }
  }

  private func end(_ phase: Phase) {
    let waiter = state.withLock { state -> Waiter? in
      if state.phase != phase { return nil }
      state.phase = .over
      return state.waiter.take()
    }
    waiter?.resume()
  }
}
