internal import MiniRex

/// Lets one task sleep once, until it is woken or cancelled.
final class Nap: Sendable {
  /// - early: not asleep yet. Next: asleep, or over.
  /// - asleep: Next: over.
  /// - over: woken, perhaps before it slept.
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

  /// - Parameters:
  ///   - begin: Called when a cancellation would be noticed.
  ///   - onCancel: Called when the task is cancelled, perhaps before `begin`; has to wake it.
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

  /// The first call counts.
  ///
  /// - Parameter tidy: Called when the nap is over and the task not yet woken.
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
