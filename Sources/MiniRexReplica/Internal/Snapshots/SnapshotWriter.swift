internal import Dispatch
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encodes and writes snapshots on a queue, one after another.
///
/// While one is being written, only the newest of the next snapshots is kept.
final class SnapshotWriter<State: Codable & Sendable>: Sendable {
  private struct Work: Sendable {
    var isWriting = false
    var next: DecidedState<State>?
  }

  private let log: any ReplicaLog
  private let troubles: HeldUpdates<ReplicaTrouble>
  private let work = Lock(Work())
  private let queue = DispatchQueue(label: "MiniRexReplica.snapshots")

  init(to log: any ReplicaLog, reportingTo troubles: HeldUpdates<ReplicaTrouble>) {
    (self.log, self.troubles) = (log, troubles)
  }

  /// Returns `true` if a multiple of the distance is in `before + 1...count`.
  func isDue(at count: Int, after before: Int) -> Bool {
    let distance = log.snapshotDistance
    return distance > 0 && count / distance > before / distance
  }

  func write(_ state: DecidedState<State>) {
    // The state is released outside the lock.
    let (mustStart, old) = work.withLock { work in
      defer { (work.next, work.isWriting) = (state, true) }
      return (!work.isWriting, work.next)
    }
    withExtendedLifetime(old) {}
    if mustStart { queue.async { self.writeNext() } }
  }

  private func writeNext() {
    let next = work.withLock { work in
      work.isWriting = work.next != nil
      defer { work.next = nil }
      return work.next
    }
    guard let next, let position = next.position else { return }
    let data: Result = Result { try makeEncoder().encode(next) }
    switch data {
    case .failure(let error):
      troubles.broadcast(.snapshot("\(error)"))
      queue.async { self.writeNext() }
    case .success(let data):
      let snapshot = ReplicaLogSnapshot(sequence: position.sequence, time: position.time, data)
      log.addSnapshot(snapshot).subscribe { [self] result in
        if case .failure(let error) = result { troubles.broadcast(.snapshot(error.reason)) }
        queue.async { self.writeNext() }
      }.detached()
    }
  }
}
