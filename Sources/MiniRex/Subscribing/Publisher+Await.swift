extension Publisher where Kind == TaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// The result, awaited.
  ///
  /// It is `nil` if the task ends without a result, or if the waiting Swift task is canceled.
  /// Waiting counts as a subscription: it starts work that is not running. Cancellation cancels the
  /// work if no other subscriber exists, and returns after the work has returned. A Swift task that
  /// is canceled before it waits starts nothing. Work that awaits its own result never finishes.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// The success, awaited.
  ///
  /// Throws the failure.
  ///
  /// It throws `CancellationError` where `result` is `nil`, so the type of the thrown error is not
  /// `Failure`. See `result`.
  public var value: Update.Success {
    get async throws { try await nextSuccess() }
  }
}

extension Publisher
where Kind == ProgressiveTaskKind, Update: TaskOutcome, Update.Success: Sendable {
  /// The result, awaited.
  ///
  /// Progress does not wake the waiting Swift task. See `result` of a ``PublishedTask``.
  public var result: Result<Update.Success, Update.Failure>? {
    get async { await nextResult() }
  }

  /// The success, awaited.
  ///
  /// Throws the failure.
  ///
  /// See `value` of a ``PublishedTask``.
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

  /// A separate function, because the async function would retain the callback's sentinel while it
  /// waits.
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

/// A Swift task that waits for a result, or until canceled work has returned.
private final class WaitingForResult<Result: Sendable>: Sendable {
  /// - open: the source may still emit a result. → left, over
  /// - left: the waiting task is canceled, so the release of the callback no longer means an end. →
  ///   over
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
    let requester = WorkHandle.current
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        wait(for: unsafe Waiter(continuation))
      }
    } onCancel: {
      leave(token, requester: requester)
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

  private func leave(_ token: Subscription, requester: WorkHandle?) {
    state.withLock { if $0.phase == .open { $0.phase = .left } }
    let group = WaitGroup(requester: requester)
    group.end(token)
    if !group.notify({ self.end(.left) }) { end(.left) }
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
