internal import Dispatch
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Follows the snapshots of a log, and compares the states of a replica with the states of other replicas.
///
/// A reducer that depends on anything but the state and the action makes them differ. Only states at the entry of a
/// snapshot are encoded, on a separate queue.
final class SnapshotVerifier<State: Codable & Sendable>: Sendable {
  private struct Known: Sendable {
    /// The states after the last entries at which a snapshot is due.
    var states: [(state: DecidedState<State>, digest: ReplicaDigest)] = []
    /// The newest snapshot of the log, unless it was compared.
    var digest: ReplicaDigest?
  }

  /// The newest snapshot of the log.
  let stored = PublishedProperty<ReplicaDigest?>(nil)
  /// The state of this replica at the last entry at which a snapshot was due, if states are compared.
  let own = PublishedProperty<ReplicaDigest?>(nil)
  private let log: any ReplicaLog
  let verifies: Bool
  private let known = Lock(Known())
  private let queue = DispatchQueue(label: "MiniRexReplica.verification")
  private let watching = Lock<Subscription?>(nil)

  init(of log: any ReplicaLog, verifies: Bool) { (self.log, self.verifies) = (log, verifies) }

  /// - Parameter hasDiverged: A closure that runs on any thread with the sequence at which the states differ.
  func start(_ hasDiverged: @escaping @Sendable (UInt64) -> Void) {
    let subscription = log.digests().subscribe { [weak self] digest in
      guard let self else { return }
      stored.value = digest
      if !verifies { return }
      known.withLock { $0.digest = digest }
      queue.async { [weak self] in self?.compare(hasDiverged) }
    }
    let comparing = own.publisher.subscribe { [weak self] _ in self?.compare(hasDiverged) }
    let old = watching.withLock { watching in
      defer {
        watching = Subscription {
          subscription.invalidate()
          comparing.invalidate()
        }
      }
      return watching
    }
    old?.invalidate()
  }

  func end() {
    watching.withLock { $0.take() }?.invalidate()
    let old = known.withLock { known in
      defer { known = Known() }
      return known
    }
    withExtendedLifetime(old) {}
  }

  /// Notes the state after an entry at which a snapshot is due.
  func note(_ state: DecidedState<State>) {
    if !verifies { return }
    queue.async { [weak self] in
      guard let self, let position = state.position, let data = try? makeEncoder().encode(state)
      else { return }
      let digest = ReplicaDigest(
        ReplicaLogSnapshot(sequence: position.sequence, time: position.time, data))
      // The state is released outside the lock.
      let old = known.withLock { known in
        known.states.append((state, digest))
        return known.states.count > 4 ? known.states.removeFirst() : nil
      }
      withExtendedLifetime(old) {}
      own.value = digest
    }
  }

  /// Compares the newest snapshot of the log with the state of this replica at the same entry.
  ///
  /// Runs on the queue.
  private func compare(_ hasDiverged: @escaping @Sendable (UInt64) -> Void) {
    let (digest, found) = known.withLock { known in
      let digest = known.digest
      let found = known.states.last {
        $0.digest.sequence == digest?.sequence && $0.digest.time == digest?.time
      }
      // Each snapshot is compared once.
      if found != nil { known.digest = nil }
      return (digest, found)
    }
    guard let digest, let (state, own) = found, own != digest else { return }
    log.snapshot(through: digest.sequence).subscribe { [weak self] result in
      guard let self, case .success(let data?) = result else { return }
      queue.async { [self] in
        // Another snapshot may have replaced the snapshot of the digest.
        guard let other = try? makeDecoder().decode(DecidedState<State>.self, from: data),
          other.position == state.position
        else { return }
        if !isEqual(state, other) { hasDiverged(digest.sequence) }
      }
    }.detached()
  }

  /// Returns `true` if the values are equal, although their encodings differ.
  ///
  /// The elements of a `Set` have another order in each process.
  private func isEqual(_ state: DecidedState<State>, _ other: DecidedState<State>) -> Bool {
    guard let value = state.state as? any Equatable else { return false }
    return state.table == other.table && state.count == other.count && value.isEqual(other.state)
  }
}

extension Equatable {
  fileprivate func isEqual(_ other: Any) -> Bool { (other as? Self) == self }
}
