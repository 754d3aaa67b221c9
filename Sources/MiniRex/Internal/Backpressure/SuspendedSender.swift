/// A sender that waits at a valve.
///
/// The valve decides under its lock and resumes the sender after it, once.
final class SuspendedSender: Sendable {
  enum Outcome {
    case entered
    case refused
  }

  private enum Phase {
    case new
    case waiting(Waiter)
    case parked(Parking)
    case over(Outcome)
  }

  /// The task of the sender, or 0 if it is unknown.
  let task: UInt
  private let phase = Lock(Phase.new)

  init(_ task: UInt) {
    self.task = task
  }

  /// Called once, outside locks.
  func resume(_ outcome: Outcome) {
    let old = phase.withLock { phase in
      defer { phase = .over(outcome) }
      return phase
    }
    switch old {
    case .new, .over: break
    case .waiting(let waiter): waiter.resume()
    case .parked(let parking): parking.open()
    }
  }

  func wait(with waiter: Waiter) {
    let isOver = phase.withLock { phase in
      if case .over = phase { return true }
      phase = .waiting(waiter)
      return false
    }
    if isOver { waiter.resume() }
  }

  /// Blocks the thread.
  func park() {
    let parking = Parking()
    let isOver = phase.withLock { phase in
      if case .over = phase { return true }
      phase = .parked(parking)
      return false
    }
    if !isOver { parking.wait() }
  }

  var outcome: Outcome {
    if case .over(let outcome) = phase.withLock({ $0 }) { outcome } else { .refused }
  }
}
