internal import MiniRex

/// The single steps of a link on which nothing happens otherwise.
extension MemoryLog.Link {
  /// The number of entries in flight.
  package var inFlightCount: Int { state.withLock { $0.inFlight.count } }

  /// The number of subscriptions to the entries.
  package var readerCount: Int { state.withLock { $0.readers.count } }

  /// The sequence of the last entry that was delivered here.
  package var position: UInt64 { state.withLock { $0.readers.last?.position ?? 0 } }

  /// The number of accepted entries that were not delivered here.
  package var undelivered: Int { Int(log.last) - Int(position) }

  /// Accepts the oldest entry in flight.
  ///
  /// - Parameter losesAnswer: A Boolean value that indicates whether the replica receives no answer.
  package func acceptNext(losesAnswer: Bool = false) {
    guard let next = takeNext() else { return }
    let sequence = log.accept(next.message)
    if !losesAnswer { next.source.finish(.success(sequence)) }
  }

  /// Refuses the oldest entry in flight.
  package func refuseNext() {
    takeNext()?.source.finish(.failure(ReplicaLogError("refused")))
  }

  /// Accepts an entry of a lost connection, the oldest first.
  package func acceptLate() {
    let message = state.withLock { $0.late.isEmpty ? nil : $0.late.removeFirst() }
    if let message { _ = log.accept(message) }
  }

  private func takeNext() -> (message: ReplicaMessage, source: AppendSource)? {
    state.withLock { $0.inFlight.isEmpty ? nil : $0.inFlight.removeFirst() }
  }

  /// Delivers up to `count` entries, if connected.
  package func deliverNext(_ count: Int) {
    for _ in 0..<count where !deliverNext() { return }
  }

  /// Begins another connection without reporting the loss, as a log that notices that it was replaced.
  package func beginAgain() {
    emitting { state in
      if state.isConnected { for reader in state.readers { hasConnected(reader, &state) } }
    }
  }

  /// Lets reads of the snapshot wait until the next call with `false`.
  package func holdSnapshots(_ isHeld: Bool) {
    let waiting = state.withLock { state in
      state.isHeld = isHeld
      defer { if !isHeld { state.waiting = [] } }
      return isHeld ? [] : state.waiting
    }
    for (source, sequence) in waiting {
      source.finish(.success(log.content.withLock { $0.snapshot(through: sequence)?.data }))
    }
  }

  /// Answers the oldest read of the snapshot that waits.
  package func answerSnapshot() {
    let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    guard let (source, sequence) = next else { return }
    source.finish(.success(log.content.withLock { $0.snapshot(through: sequence)?.data }))
  }

  /// The number of reads of the snapshot that wait.
  package var heldCount: Int { state.withLock { $0.waiting.count } }
}
