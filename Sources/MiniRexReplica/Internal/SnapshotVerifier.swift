internal import Dispatch
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Compares the states of a replica with the snapshots of other replicas.
///
/// A reducer that depends on anything but the state and the action makes them differ. Only states at the entry of a
/// snapshot are encoded, on a separate queue.
final class SnapshotVerifier<State: Codable & Sendable>: Sendable {
  private struct Known: Sendable {
    /// The states after the last entries at which a snapshot is due.
    var states: [DecidedState<State>] = []
    var digest: ReplicaDigest?
  }

  private let log: any ReplicaLog
  private let known = Lock(Known())
  private let queue = DispatchQueue(label: "MiniRexReplica.verification")
  private let watching = Lock<Subscription?>(nil)
  private let hasDiverged: @Sendable (UInt64) -> Void

  /// - Parameter hasDiverged: A closure that runs on any thread with the sequence at which the states differ.
  init(of log: any ReplicaLog, _ hasDiverged: @escaping @Sendable (UInt64) -> Void) {
    (self.log, self.hasDiverged) = (log, hasDiverged)
  }

  func start() {
    let subscription = log.digests().subscribe { [weak self] digest in
      guard let self else { return }
      known.withLock { $0.digest = digest }
      queue.async { [weak self] in self?.compare() }
    }
    let old = watching.withLock { watching in
      defer { watching = subscription }
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
    // The state is released outside the lock.
    let old = known.withLock { known in
      known.states.append(state)
      return known.states.count > 4 ? known.states.removeFirst() : nil
    }
    withExtendedLifetime(old) {}
    queue.async { [weak self] in self?.compare() }
  }

  private func compare() {
    let (digest, state) = known.withLock { known in
      let digest = known.digest
      let state = known.states.last {
        $0.position?.sequence == digest?.sequence && $0.position?.time == digest?.time
      }
      // Each snapshot is compared once.
      if state != nil { known.digest = nil }
      return (digest, state)
    }
    guard let digest, let state, let data = try? makeEncoder().encode(state) else { return }
    if Checksum.of([UInt8](data)[...]) == digest.checksum { return }
    log.snapshot().subscribe { [weak self] result in
      guard let self, case .success(let data?) = result else { return }
      queue.async { [self] in
        // Another snapshot may have replaced it.
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
