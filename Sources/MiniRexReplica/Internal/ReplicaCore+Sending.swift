internal import Dispatch
internal import MiniRex

extension ReplicaCore {
  func pump() {
    sending.synchronize { [weak self] error in
      guard let self, !sending.pending.withLock({ $0.isClosed }) else { return }
      var burst = Burst()
      stop(.notSynchronized("\(error)"), &burst)
    }
    while let (message, connection) = takeEntry() {
      log.append(message).subscribe { [weak self] _ in
        guard let self else { return }
        // After a failure, the check sends again: a later entry may have been accepted.
        sending.pending.withLock { $0.hasAnswered(over: connection) }
        sending.wake()
      }.detached()
    }
    publishProgress()
    checkLater()
  }

  private func takeEntry() -> (ReplicaMessage, connection: Int)? {
    sending.pending.withLock { pending in
      pending.takeEntry(of: sending.origin).map { ($0, pending.connection) }
    }
  }

  /// Sends again if no action is decided for an interval.
  private func checkLater() {
    let first = sending.pending.withLock { $0.isConnected ? $0.actions.first?.number : nil }
    guard let first else { return }
    let isFirst = isChecking.withLock { isChecking in
      defer { isChecking = true }
      return !isChecking
    }
    if !isFirst { return }
    sending.queue.asyncAfter(deadline: .now() + retryInterval) { [weak self] in
      guard let self else { return }
      isChecking.withLock { $0 = false }
      sending.pending.withLock { pending in
        if pending.actions.first?.number == first { pending.resend(always: true) }
      }
      pump()
    }
  }
}
