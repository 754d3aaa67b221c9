internal import Dispatch
internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Each connection begins with a comparison of the log with the last entry that was read.
///
/// Nothing is applied and nothing is sent before it. A log that went back is read again from the snapshot.
extension ReplicaCore {
  /// Reads the log after the position of a candidate, or after the last entry.
  func read(from candidate: DecidedState<State>?) {
    let (number, old) = reading.withLock { reading in
      reading.candidate = candidate
      return reading.begin()
    }
    old?.invalidate()
    sending.pending.withLock { $0.hasDisconnected() }
    let sequence = candidate?.sequence ?? decided.withLock { $0.sequence }
    let subscription = log.entries(after: sequence).subscribe { [weak self] event in
      self?.take(event, of: number)
    }
    if !reading.withLock({ $0.keep(subscription, number) }) { subscription.invalidate() }
  }

  func compare(with log: ReplicaLogState, _ initial: DecidedState<State>) {
    let candidate = reading.withLock { $0.candidate }
    let position = candidate.map { $0.position } ?? decided.withLock { $0.position }
    guard let position else {
      if log.first > 1 { return seek(0..<log.first, candidate, log, initial) }
      return hasCompared(candidate, log)
    }
    let isSame = log.entry.map { LogPosition($0) == position }
    if position.sequence > log.last || isSame == false {
      return hasGoneBack(to: log, candidate, initial)
    }
    let isMissing = isSame == nil && log.first > position.sequence
    if isMissing, reading.withLock({ $0.missing }) != log.first - 1 {
      return seek(position.sequence..<log.first, candidate, log, initial)
    }
    hasCompared(candidate, log)
  }

  private func hasGoneBack(
    to log: ReplicaLogState, _ candidate: DecidedState<State>?,
    _ initial: DecidedState<State>
  ) {
    if candidate == nil {
      troubles.broadcast(.rolledBack(to: log.last))
    } else {
      troubles.broadcast(.snapshot("It belongs to entries that the log no longer has."))
    }
    if let position = candidate?.position { reading.withLock { $0.refused.append(position) } }
    // An earlier snapshot may belong to the log.
    let end = candidate.map { max(1, $0.sequence) - 1 } ?? log.last
    load(through: min(end, log.last)) { [weak self] snapshot in
      self?.read(from: snapshot ?? initial)
    }
  }

  /// Reads from a snapshot, because the log no longer has the entry at the beginning of a range.
  private func seek(
    _ range: Range<UInt64>, _ candidate: DecidedState<State>?, _ log: ReplicaLogState,
    _ initial: DecidedState<State>
  ) {
    // Other replicas may write snapshots concurrently. The next connection is compared with the entry of the snapshot.
    load(through: .max) { [weak self] snapshot in
      guard let self else { return }
      if let snapshot, let position = snapshot.position, snapshot.sequence > range.lowerBound,
        !reading.withLock({ $0.refused.contains(position) })
      {
        return read(from: snapshot)
      }
      if range.upperBound - range.lowerBound == 1, range.lowerBound > 0 {
        // Entries that arrived during the read were ignored, so they are read again.
        read(from: candidate)
        return reading.withLock { $0.missing = range.lowerBound }
      }
      isMissing(range, candidate)
    }
  }

  /// Stops because of missing entries, if the log answers repeatedly that it has no such entries and no snapshot.
  ///
  /// In a cluster, a server that has lost contact with the other servers answers from its own entries for some ten seconds.
  private func isMissing(_ range: Range<UInt64>, _ candidate: DecidedState<State>?) {
    let count = reading.withLock { reading in
      reading.answers = reading.lost == range ? reading.answers + 1 : 1
      reading.lost = range
      return reading.answers
    }
    if count > 8 {
      var burst = Burst()
      return stop(.missing(range.lowerBound + 1..<range.upperBound), &burst)
    }
    let comparison = reading.withLock { $0.comparison }
    sending.queue.asyncAfter(deadline: .now() + confirmationInterval) { [weak self] in
      guard let self, reading.withLock({ $0.isCurrent(comparison: comparison) }) else { return }
      read(from: candidate)
    }
  }

  /// Reads the newest snapshot at or before a sequence, and tries again until the log answers.
  private func load(
    through sequence: UInt64, _ use: @escaping @Sendable (DecidedState<State>?) -> Void
  ) {
    let comparison = reading.withLock { $0.comparison }
    log.snapshot(through: sequence).subscribe { [weak self] result in
      guard let self else { return }
      sending.queue.async { [weak self] in
        guard let self, reading.withLock({ $0.isCurrent(comparison: comparison) }) else { return }
        switch result {
        case .success(let data):
          use(data.flatMap { self.decode($0) })
        case .failure(let error):
          troubles.broadcast(.snapshot(error.reason))
          sending.queue.asyncAfter(deadline: .now() + .milliseconds(250)) { [weak self] in
            guard let self, reading.withLock({ $0.isCurrent(comparison: comparison) }) else {
              return
            }
            load(through: sequence, use)
          }
        }
      }
    }.detached()
  }

  private func decode(_ data: Data) -> DecidedState<State>? {
    do {
      return try decoder.decode(DecidedState<State>.self, from: data)
    } catch {
      troubles.broadcast(.snapshot("\(error)"))
      return nil
    }
  }

  /// Applies the candidate, and sends the pending actions.
  private func hasCompared(
    _ candidate: DecidedState<State>?, _ log: ReplicaLogState
  ) {
    let doubt = doubt(at: log.lastTime)
    reading.withLock { reading in
      reading.hasCompared(with: log)
      reading.doubt = doubt
    }
    if let candidate { adopt(candidate) }
    let last = decided.withLock { $0.table.last(of: sending.origin) }
    if last >= sending.pending.withLock({ $0.next }) {
      var burst = Burst()
      return stop(.originInUse, &burst)
    }
    sending.pending.withLock { $0.hasConnected(isHeld: doubt != nil) }
    pump()
  }

  /// Returns the Unix second before which a sent action may have been decided and forgotten, if there is such an action.
  ///
  /// - Parameter time: The time of the log, in nanoseconds since 1970.
  func doubt(at time: Int64) -> Int? {
    // A day less than the log remembers, because the clocks may differ.
    let now = max(Int64(Date().timeIntervalSince1970), time / 1_000_000_000)
    let second = Int(now - DecisionTable.lifetime / 1_000_000_000 + 86_400)
    return sending.pending.withLock { $0.lastSent(before: second) != nil } ? second : nil
  }

  /// Returns a Boolean value that indicates whether the entries of a gap were deleted by an operator.
  ///
  /// A compaction removes the first entries of the log, and the replica then needs the snapshot. So the gap is read
  /// once more.
  func mayPass(_ gap: Range<UInt64>, _ burst: inout Burst) -> Bool {
    let isDeleted = reading.withLock { reading in
      defer { (reading.gap, reading.isDeleted) = (nil, false) }
      return reading.isDeleted && reading.gap == gap
    }
    commit(&burst)
    if isDeleted {
      troubles.broadcast(.removed(gap))
    } else {
      read(from: nil)
      reading.withLock { $0.gap = gap }
    }
    return isDeleted
  }
}
