internal import MiniRex

extension ReplicaCore {
  /// Waits until the entries are applied that the log has now.
  func caughtUp() async throws {
    while true {
      try await wait { $0.phase == .current }
      let comparison = reading.withLock { $0.comparison }
      let position = decided.withLock { $0.position }
      let end: UInt64?? = await end(after: position).result?.get()
      guard let end else { throw CancellationError() }
      try await wait { [weak self] progress in
        guard progress.phase == .current, let self else { return false }
        // Without an end, the log has lost the entry at the position. The replica then gets another position, or
        // compares again.
        let isReached =
          end.map { progress.sequence >= $0 } ?? (decided.withLock { $0.position } != position)
        return isReached || reading.withLock { $0.comparison } != comparison
      }
      // Over another connection, the log may have another end.
      if end != nil, reading.withLock({ $0.comparison }) == comparison { return }
    }
  }

  /// Returns the last sequence of the log, read by a separate subscription.
  ///
  /// It is `nil` if the log has lost the entry at the position. It is the last sequence that was read so far if the
  /// replica stops, or cannot use the log.
  private func end(after position: LogPosition?) -> PublishedTask<UInt64?, Never> {
    let start = position?.sequence ?? 0
    let stop = progress.publisher.broadcaster.filter { $0.phase == .stopped }
      .map { _ in ReplicaLogEvent.unsuitable("stopped") }
    let events = merge(log.entries(after: start), stop)
    return events.scan((end: UInt64?(start), isOver: false)) { reading, event in
      switch event {
      case .entry(let entry): (entry.sequence, false)
      case .current, .unsuitable: (reading.end, true)
      case .connected(let state)
      where state.last < start || state.entry.map { LogPosition($0) != position } ?? false:
        (nil, true)
      case .connected, .disconnected: reading
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
