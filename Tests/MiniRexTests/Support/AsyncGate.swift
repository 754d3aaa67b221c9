import MiniRex
import TestSupport
import Testing

/// Suspends Swift tasks until it is opened, canceled tasks as well.
final class AsyncGate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  var isOpen: Bool { state.withLock { $0.isOpen } }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Records an issue at the call if the gate stays closed, and opens it.
  func wait(sourceLocation: SourceLocation = #_sourceLocation) async {
    await patiently("The gate is closed", sourceLocation: sourceLocation) { [self] in
      open()
    } _: {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiters.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }
  }
}
