#if NATS
internal import MiniRex
internal import MiniRexNATS

/// Finds out whether the server answers, also if it keeps the connection open and is stopped.
///
/// Nobody answers the probe's subject, so the server itself answers that it has no subscriber.
final class ServerProbe: Sendable {
  private struct State: Sendable {
    var answeredAt: ContinuousClock.Instant?
    var request: Subscription?
    var isAsking = false
  }

  /// The time without an answer after which a server counts as stopped.
  private let patience: Duration
  private let nats: NATSConnection
  private let subject: String
  private let state = Lock(State())

  init(_ nats: NATSConnection, of fleet: String, patience: Duration = .seconds(4)) {
    (self.nats, self.patience) = (nats, patience)
    subject = FleetSubject.probe(fleet)
  }

  /// Sends a probe unless one is in progress, and returns whether the server has answered one in time.
  func answers(at now: ContinuousClock.Instant) -> Bool {
    guard nats.isReady.current() == true else {
      let old = state.withLock { state in
        defer { state = State() }
        return state.request
      }
      old?.invalidate()
      return false
    }
    let mustAsk = state.withLock { state in
      defer { state.isAsking = true }
      return !state.isAsking
    }
    if mustAsk { ask() }
    return state.withLock { $0.answeredAt.map { now - $0 < patience } ?? false }
  }

  func end() { state.withLock { $0.request.take() }?.invalidate() }

  private func ask() {
    let task = nats.request(String.self, "", on: subject, timeout: patience)
    let request = task.subscribe { [weak self] result in
      let isAnswer = result != .failure(.timedOut) && result != .failure(.disconnected)
      self?.state.withLock { state in
        if isAnswer { state.answeredAt = .now }
        state.isAsking = false
      }
    }
    let old = state.withLock { state in
      defer { state.request = request }
      return state.request
    }
    old?.invalidate()
  }
}

#endif
