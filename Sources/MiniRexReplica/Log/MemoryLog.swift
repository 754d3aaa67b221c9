internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A log in memory, for tests of code that uses replicas.
///
/// ```swift
/// let log = MemoryLog()
/// let link = log.link()
/// let replica = try Replica(Board(), of: link, reducer: reduce)
/// link.cut()
/// replica.send(.claimed(card, by: "Ann"))  // Pending until `link.connect()`.
/// ```
///
/// Each replica has a separate link, which can be cut and can misbehave. Replicas decide on separate queues: await
/// ``Replica/caughtUp()``, ``Replica/flush()``, or a task of ``Replica/send(_:)``.
public final class MemoryLog: Sendable {
  struct Content: Sendable {
    /// The sequence of the first entry.
    var first: UInt64 = 1
    /// `nil` is an entry that an operator deleted.
    var entries: [ReplicaLogEntry?] = []
    /// The time of the last entry, in nanoseconds since 1970.
    var time = Int64(Date().timeIntervalSince1970) * 1_000_000_000
    /// The newest snapshot, and the snapshot before it.
    var snapshots: [ReplicaLogSnapshot] = []
    var snapshotCount = 0

    var last: UInt64 { first + UInt64(entries.count) - 1 }

    subscript(sequence: UInt64) -> ReplicaLogEntry? {
      sequence >= first && sequence <= last ? entries[Int(sequence - first)] : nil
    }

    /// Returns a Boolean value that indicates whether the log has the entry of a snapshot.
    func has(_ snapshot: ReplicaLogSnapshot) -> Bool {
      self[snapshot.sequence]?.time == snapshot.time
    }

    func snapshot(through sequence: UInt64) -> ReplicaLogSnapshot? {
      snapshots.first { $0.sequence <= sequence }
    }

    mutating func purge(before sequence: UInt64) {
      let count = Int(min(max(sequence, first), last + 1) - first)
      entries.removeFirst(count)
      first += UInt64(count)
    }
  }

  let content = Lock(Content())
  let snapshotDistance: Int
  let digests = BroadcastSource<ReplicaDigest>()
  /// Emits after each change of the entries.
  let changes = BroadcastSource<Void>()
  private let keptCount: UInt64
  private let backup = Lock(Content())

  /// Creates an empty log.
  ///
  /// - Parameters:
  ///   - distance: The number of actions between two snapshots. The default is 0, for none. Traps if less than 0.
  ///   - count: The number of entries that stay before a snapshot. Traps if less than 0.
  public init(snapshotEvery distance: Int = 0, keeping count: Int = 0) {
    if distance < 0 || count < 0 {
      misuse("'MemoryLog' requires counts of 0 or more, not \(distance) and \(count).")
    }
    (snapshotDistance, keptCount) = (distance, UInt64(count))
  }

  /// Creates a link for one replica, which is connected.
  public func link() -> Link { Link(self, isConnected: true, isManual: false) }

  /// The entries that the log has, in their order.
  public var entries: [ReplicaLogEntry] { content.withLock { $0.entries.compactMap { $0 } } }

  /// Copies the entries and the snapshots.
  public func backUp() {
    let copy = content.withLock { $0 }
    backup.withLock { $0 = copy }
  }

  /// Replaces the entries and the snapshots by the last copy, like a server that is restored.
  ///
  /// Cut all links first. Without a copy, it removes everything.
  ///
  /// - Parameter keepsSnapshots: A Boolean value that indicates whether the snapshots stay, which can then be newer
  ///   than the entries.
  public func restore(keepingSnapshots keepsSnapshots: Bool = false) {
    let copy = backup.withLock { $0 }
    content.withLock { content in
      (content.first, content.entries) = (copy.first, copy.entries)
      if !keepsSnapshots { content.snapshots = copy.snapshots }
    }
  }

  func accept(_ message: ReplicaMessage) -> UInt64 {
    content.withLock { content in
      content.time += 1
      let sequence = content.last + 1
      content.entries.append(
        ReplicaLogEntry(sequence: sequence, time: content.time, message))
      return sequence
    }
  }

  func entry(after sequence: UInt64) -> ReplicaLogEntry? {
    content.withLock { content in
      if sequence >= content.last { return nil }
      let start = max(content.first, sequence + 1)
      return content.entries[Int(start - content.first)...].lazy.compactMap { $0 }.first
    }
  }

  func addSnapshot(_ new: ReplicaLogSnapshot) -> ReplicaLogError? {
    let result: ReplicaLogError?? = content.withLock { content in
      content.snapshotCount += 1
      let previous = content.snapshots.first { content.has($0) }
      if let previous, previous.sequence >= new.sequence { return .some(nil) }
      if !content.has(new) { return ReplicaLogError("The log no longer has the entry.") }
      content.snapshots = [new] + (previous.map { [$0] } ?? [])
      guard let previous else { return nil }
      content.purge(before: min(previous.sequence, new.sequence - min(new.sequence, keptCount)))
      return nil
    }
    if let result { return result }
    digests.broadcast(ReplicaDigest(new))
    return nil
  }
}
