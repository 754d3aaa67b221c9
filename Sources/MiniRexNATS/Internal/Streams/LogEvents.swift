#if NATS
internal import MiniRex

/// Emits the events of a reader in order, on one thread at a time.
///
/// A subscriber may cancel or subscribe in its callback, so no lock is held then.
final class LogEvents: Sendable {
  private struct State: Sendable {
    var queue: [NATSLogEvent] = []
    /// A Boolean value that indicates whether a thread is emitting.
    var isEmitting = false
    var isOver = false
  }

  private let state = Lock(State())
  private let receive: @Sendable (NATSLogEvent) -> Void

  init(_ receive: @escaping @Sendable (NATSLogEvent) -> Void) { self.receive = receive }

  func add(_ event: NATSLogEvent) { state.withLock { $0.queue.append(event) } }

  /// Emits the queued events, unless another thread does.
  func emit() {
    let isFirst = state.withLock { state in
      defer { state.isEmitting = true }
      return !state.isEmitting
    }
    if !isFirst { return }
    while let events = state.withLock({ take(&$0) }) {
      for event in events where !state.withLock({ $0.isOver }) { receive(event) }
    }
  }

  private func take(_ state: inout State) -> [NATSLogEvent]? {
    state.isEmitting = !state.queue.isEmpty
    defer { state.queue = [] }
    return state.isEmitting ? state.queue : nil
  }

  /// Drops the queued events.
  func end() {
    state.withLock { state in
      state.isOver = true
      state.queue = []
    }
  }
}
#endif
