public import MiniRex

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An ordered log of entries that all replicas of a store read.
///
/// `NATSLog` of `MiniRexNATSStore` is a log that several machines share, and ``MemoryLog`` is a log for tests. Conform
/// your type to use another server.
///
/// An accepted entry has one sequence, greater than the sequences before it. The log may lose the answer to an append,
/// refuse entries, and accept an entry of a lost connection later. A restored log may end before entries that replicas
/// have read, which ``ReplicaLogEvent/connected(_:)`` reveals.
///
/// Without ``snapshotDistance``, replicas write no snapshots, and the log must keep each entry.
public protocol ReplicaLog: Sendable {
  /// Appends an entry and returns its sequence.
  ///
  /// A replica has up to 512 appends in progress. The log must receive them in the order of the calls. A call may run
  /// inside ``Replica/send(_:)``, so it must not block. Offline it fails, or waits. The entry may be in the log after a
  /// failure: the replica sends it again, and replicas ignore the copy.
  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError>

  /// Emits the entries after a sequence in order, each once, and the changes of the connection.
  ///
  /// The broadcaster must emit ``ReplicaLogEvent/connected(_:)`` before the first entry, after each reconnect, and
  /// after the log was restored or replaced: without it, replicas keep entries that the log has lost. It must call its
  /// subscriber serially, on any thread, even within ``append(_:)``, and must not end.
  ///
  /// A replica may have several subscriptions, and ``Replica/caughtUp()`` adds one. After a log went back, the replica
  /// subscribes again. The sequence may be beyond the last entry, or before the first: then the broadcaster emits the
  /// state of the log, and the entries that it has.
  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent>

  /// Reads the newest snapshot at or before a sequence, or `nil` if the log has none.
  func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError>

  /// Adds a snapshot, then removes entries that no replica needs.
  ///
  /// A snapshot belongs to the log if the entry with its sequence has its time. The log must keep the two newest such
  /// snapshots, the entry of the older snapshot, and all entries after it. So a log that has lost its last entries in a
  /// fault still has a snapshot before them. An older or a foreign snapshot changes nothing: the task succeeds if the
  /// stored snapshot is newer, and fails if the log does not have the entry of the new snapshot.
  func addSnapshot(_ snapshot: ReplicaLogSnapshot) -> PublishedTask<Void, ReplicaLogError>

  /// The number of actions between two snapshots, or 0 for none, which is the default.
  var snapshotDistance: Int { get }

  /// Emits the digest of the newest snapshot, if there is one, then of each newer snapshot.
  ///
  /// The default emits nothing. Replicas of such a log do not compare their states, and
  /// ``ReplicaProgress/snapshotTime`` is `nil`.
  func digests() -> Broadcaster<ReplicaDigest>
}

extension ReplicaLog {
  /// The default, for a log without snapshots.
  public var snapshotDistance: Int { 0 }

  /// The default, which emits nothing.
  public func digests() -> Broadcaster<ReplicaDigest> { Broadcaster { _ in .ended } }
}
