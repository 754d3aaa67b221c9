internal import MiniRex

/// One suspension of one task, until `wake` or a cancellation.
final class SleepRequest: Sendable {
  /// - early: not suspended yet → asleep, over.
  /// - asleep: suspended → over.
  /// - over: resumed, or never suspended.
  private enum Phase {
    case early
    case asleep(CheckedContinuation<Void, Never>)
    case over(wasCancelled: Bool)
  }

  private let phase = Lock(Phase.early)

  var isOver: Bool {
    phase.withLock { phase in
      if case .over = phase { true } else { false }
    }
  }

  var wasCancelled: Bool {
    phase.withLock { phase in
      if case .over(true) = phase { true } else { false }
    }
  }

  /// Suspends the task until `wake`.
  ///
  /// - Parameters:
  ///   - begin: Called after the cancellation handler is installed.
  ///   - onCancel: Called when the task is canceled, possibly before `begin`. It must call `wake`.
  func sleep(begin: () -> Void = {}, onCancel: @Sendable () -> Void) async {
    await withTaskCancellationHandler {
      begin()
      await withCheckedContinuation { continuation in
        let isOver = phase.withLock { phase in
          if case .over = phase { return true }
          phase = .asleep(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      onCancel()
    }
  }

  /// Resumes the task, on the first call only.
  ///
  /// - Parameter tidy: Called after the change to `over`, before the task is resumed.
  func wake(byCancelling isCancelled: Bool = false, tidy: () -> Void = {}) {
    let continuation: CheckedContinuation<Void, Never>? = phase.withLock { state in
      let last = state
      if case .over = last { return nil }
      state = .over(wasCancelled: isCancelled)
      if case .asleep(let continuation) = last { return continuation }
      return nil
    }
    tidy()
    continuation?.resume()
  }
}
