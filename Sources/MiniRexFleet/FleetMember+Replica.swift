#if NATS
internal import Foundation
internal import MiniRex
internal import MiniRexInspector
public import MiniRexReplica
internal import MiniRexStore

extension FleetMember {
  /// Shows a replica in the row of the process, and its store in the inspector.
  ///
  /// The row has the phase of the replica, its sequence, its pending actions, the age of the newest snapshot, and the
  /// last trouble. The pages compare the digests of replicas with one name after equal entries of the log, and name the
  /// process whose state differs from the state of most processes. That needs `verifies: true` in each process. A state with
  /// a `Set` has another encoding in each process, so encode it in sorted order.
  ///
  /// A report has as many replicas as its size permits, usually five or more, and the number of further ones.
  ///
  /// - Parameters:
  ///   - replica: The replica to show. The member does not retain it.
  ///   - name: The name on the pages, the same in all processes. Use the name of the log. More than 40 bytes are omitted.
  public func watch<State, Action>(_ replica: Replica<State, Action>, name: String) {
    let name = shortened(name, to: 40)
    core.addReplica { [weak replica] in
      guard let replica, let progress = replica.progress.current() else { return nil }
      return ReplicaReport(name, progress, replica.digest.current() ?? nil)
    }
    withInstrument(Unwatched()) {
      replica.troubles.subscribe { [weak core] in core?.note("\(name): \($0)") }.store(in: core.bag)
    }
    watch(replica.store, name: name)
  }
}

extension ReplicaReport {
  fileprivate init(_ name: String, _ progress: ReplicaProgress, _ digest: ReplicaDigest?) {
    self.init(
      name: name, phase: progress.phase.rawValue, sequence: Int(clamping: progress.sequence),
      behind: Int(clamping: progress.behind), pending: progress.pending,
      oldest: progress.oldestPending?.milliseconds, snapshot: progress.snapshotTime?.milliseconds,
      trouble: progress.trouble.map { shortened("\($0)", to: 100) },
      digest: digest.map {
        Digest(sequence: Int(clamping: $0.sequence), time: $0.time, checksum: $0.checksum)
      })
  }
}
#endif
