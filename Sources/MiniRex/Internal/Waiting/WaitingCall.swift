/// A call of `drained()` or `ended`, which the awaited event or the cancellation of its task resumes once.
@usableFromInline
final class WaitingCall: Sendable {
  private let state = Lock<(isDone: Bool, waiter: Waiter?)>((false, nil))

  @usableFromInline
  func resume() {
    let waiter = state.withLock { state in
      state.isDone = true
      return state.waiter.take()
    }
    waiter?.resume()
  }

  func wait() async {
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        let waiter = unsafe Waiter(continuation)
        let isDone = state.withLock { state in
          if !state.isDone { state.waiter = waiter }
          return state.isDone
        }
        if isDone { waiter.resume() }
      }
    } onCancel: {
      resume()
    }
  }
}
