internal import Dispatch
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ReplicaCore {
  func pump() {
    sending.synchronize { [weak self] error in
      guard let self, !sending.pending.withLock({ $0.isClosed }) else { return }
      var burst = Burst()
      stop(.notSynchronized("\(error)"), &burst)
    }
    resolve()
    sendEntries()
    publishProgress()
    checkLater()
  }

  /// Appends the entries that can be sent, on any thread.
  ///
  /// One thread does so at a time, so the log receives the entries in order. Actions that are added meanwhile gather for
  /// a later call.
  func sendEntries() {
    let isFirst = turns.withLock { turns in
      turns += 1
      return turns == 1
    }
    if !isFirst { return }
    var mustRepeat = true
    while mustRepeat {
      let seen = turns.withLock { $0 }
      let last = sending.pending.withLock { $0.next - 1 }
      while let entry = takeEntry(through: last) {
        append(entry.message, over: entry.connection)
      }
      mustRepeat = turns.withLock { turns in
        turns -= min(turns, seen)
        return turns > 0
      }
    }
  }

  private func append(_ message: ReplicaMessage, over connection: Int) {
    log.append(message).subscribe { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let sequence): reading.withLock { $0.hasAppended(sequence) }
      case .failure(let error):
        if sending.pending.withLock({ $0.isNews(error) }) {
          sending.queue.async { [troubles] in troubles.broadcast(.refused(error.reason)) }
        }
      }
      // After a failure, the check sends again: a later entry may have been accepted.
      let canSend = sending.pending.withLock { $0.hasAnswered(over: connection) }
      sending.wake(isUrgent: canSend)
    }.detached()
  }

  private func takeEntry(through number: Int) -> OutgoingEntry? {
    let second = Int(Date().timeIntervalSince1970)
    let entry = sending.pending.withLock {
      $0.takeEntry(of: sending.origin, through: number, at: second)
    }
    guard let entry else { return nil }
    // A kill after this line, and before the log has the entry, only makes the action doubtful.
    sending.mark(sent: entry.last, at: second)
    // After the end, the file is released, and does not have the line.
    return sending.pending.withLock { $0.isClosed } ? nil : entry
  }

  /// Fails the actions that the log may have decided and forgotten.
  ///
  /// A log forgets an idle origin, and would decide its actions again. They are not sent again before the replica has
  /// read the entries that the log had at the beginning of the connection.
  private func resolve() {
    let second = reading.withLock { $0.isCurrent ? $0.doubt : nil }
    guard let second else { return }
    reading.withLock { $0.doubt = nil }
    if let last = sending.pending.withLock({ $0.lastSent(before: second) }) {
      adopt(decided.withLock { $0 }, settling: last)
    }
    sending.pending.withLock { $0.release() }
  }

  /// Sends again if no action is decided for an interval.
  private func checkLater() {
    let first = sending.pending.withLock { $0.isConnected ? $0.waiting.first?.number : nil }
    guard let first else { return }
    let isFirst = isChecking.withLock { isChecking in
      defer { isChecking = true }
      return !isChecking
    }
    if !isFirst { return }
    sending.queue.asyncAfter(deadline: .now() + retryInterval) { [weak self] in
      guard let self else { return }
      isChecking.withLock { $0 = false }
      if sending.pending.withLock({ $0.waiting.first?.number == first }) { sendAgain() }
      pump()
    }
  }

  /// Sends again, after the log has answered that it cannot have forgotten this origin.
  ///
  /// A connection may deliver nothing for long, while the time of the log passes.
  private func sendAgain() {
    let (comparison, mustAsk) = reading.withLock { ($0.comparison, $0.mustAsk()) }
    if !mustAsk { return }
    let sequence = decided.withLock { $0.sequence }
    let subscription = log.entries(after: sequence).subscribe { [weak self] event in
      guard let self, case .connected(let state) = event else { return }
      sending.queue.async { [weak self] in self?.hasAnswered(state, comparison) }
    }
    reading.withLock { $0.keepQuestion(subscription, comparison) }?.invalidate()
  }

  private func hasAnswered(_ state: ReplicaLogState, _ comparison: Int) {
    guard reading.withLock({ $0.isCurrent(comparison: comparison) }) else { return }
    reading.withLock { $0.endQuestion() }?.invalidate()
    if doubt(at: state.lastTime) == nil {
      sending.pending.withLock { $0.resend(always: true) }
      pump()
    } else {
      // The log may have decided the actions, so its entries are read first.
      read(from: reading.withLock { $0.candidate })
    }
  }
}
