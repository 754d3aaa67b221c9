internal import MiniRex

extension ReplicaCore {
  /// Waits until the entries are applied that the log has now.
  func caughtUp() async throws {
    try await wait { $0.phase == .current }
    let (sequence, count) = (decided.withLock { $0.sequence }, reading.withLock { $0.rollbackCount })
    guard let end = await end(after: sequence).result?.get() else { throw CancellationError() }
    // A log that went back may not have the end any more.
    try await wait { [reading] progress in
      progress.phase == .current
        && (progress.sequence >= end || reading.withLock { $0.rollbackCount } != count)
    }
  }

  /// Returns the last sequence of the log, read by a subscription of its own.
  private func end(after sequence: UInt64) -> PublishedTask<UInt64, Never> {
    log.entries(after: sequence).scan((end: sequence, isOver: false)) { reading, event in
      switch event {
      case .entry(let entry): (entry.sequence, false)
      case .current: (reading.end, true)
      // It went back, and the replica reads it again.
      case .connected(let state) where state.last < sequence: (0, true)
      case .connected, .disconnected, .unsuitable: reading
      }
    }.first(where: \.isOver).map(\.end)
  }

  private func wait(until isReached: @escaping @Sendable (ReplicaProgress) -> Bool) async throws {
    let reached = await progress.publisher.first { $0.phase == .stopped || isReached($0) }.result
    guard let progress = reached?.get() else { throw CancellationError() }
    if progress.phase == .stopped { throw sending.pending.withLock { $0.ending } ?? .closed }
  }

  /// Waits until the actions are decided that are pending now.
  func flush() async throws {
    let last = sending.pending.withLock { $0.next - 1 }
    let reached = await undecided.publisher.first { $0 > last || $0 == 0 }.result
    guard let number = reached?.get() else { throw CancellationError() }
    if number == 0 { throw sending.pending.withLock { $0.ending } ?? .closed }
  }
}
