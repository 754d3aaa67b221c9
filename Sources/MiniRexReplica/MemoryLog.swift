internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A log in memory, for tests, with one link for each replica.
///
/// Nothing happens until the test moves it: ``Link/acceptNext()`` and ``Link/deliverNext(_:)`` are single steps.
package final class MemoryLog: Sendable {
  struct Content: Sendable {
    /// The sequence of the first entry.
    var first: UInt64 = 1
    /// `nil` is an entry that an operator deleted.
    var entries: [ReplicaLogEntry?] = []
    /// The time of the last entry, in nanoseconds since 1970.
    var time = Int64(Date().timeIntervalSince1970) * 1_000_000_000
    var snapshot: ReplicaLogSnapshot?
    var snapshotCount = 0

    var last: UInt64 { first + UInt64(entries.count) - 1 }

    subscript(sequence: UInt64) -> ReplicaLogEntry? {
      sequence >= first && sequence <= last ? entries[Int(sequence - first)] : nil
    }

    /// Returns a Boolean value that indicates whether the log has the entry of a snapshot.
    func has(_ snapshot: ReplicaLogSnapshot) -> Bool {
      self[snapshot.sequence]?.time == snapshot.time
    }

    mutating func purge(before sequence: UInt64) {
      let count = Int(min(max(sequence, first), last + 1) - first)
      entries.removeFirst(count)
      first += UInt64(count)
    }
  }

  let content = Lock(Content())
  let snapshotDistance: Int
  private let keptCount: UInt64
  private let backup = Lock(Content())
  let digests = BroadcastSource<ReplicaDigest>()

  /// Creates an empty log.
  ///
  /// - Parameters:
  ///   - distance: The number of actions between two snapshots. The default is 0, for none.
  ///   - count: The number of entries that stay before a snapshot.
  package init(snapshotEvery distance: Int = 0, keeping count: Int = 0) {
    (snapshotDistance, keptCount) = (distance, UInt64(count))
  }

  /// The accepted entries that the log still has, in their order.
  package var entries: [ReplicaMessage] {
    content.withLock { $0.entries.compactMap { $0?.message } }
  }

  /// The sequence of the first entry that the log has, or of the next entry.
  package var first: UInt64 { content.withLock { $0.first } }

  /// The number of snapshots that replicas have offered.
  package var snapshotCount: Int { content.withLock { $0.snapshotCount } }

  /// The sequence of the last entry that was accepted.
  package var last: UInt64 { content.withLock { $0.last } }

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
      let start = max(content.first, sequence + 1)
      if start > content.last { return nil }
      return content.entries[Int(start - content.first)...].lazy.compactMap { $0 }.first
    }
  }

  /// Creates a link, which is connected unless `isCut`.
  package func link(isCut: Bool = false) -> Link { Link(self, isConnected: !isCut) }

  /// Copies the entries and the snapshot.
  package func backUp() {
    let copy = content.withLock { $0 }
    backup.withLock { $0 = copy }
  }

  /// Replaces the entries and the snapshot by the copy, like a server that is restored.
  ///
  /// Cut all links first.
  ///
  /// - Parameter keepsSnapshot: A Boolean value that indicates whether the snapshot is newer than the copy.
  package func restore(keepingSnapshot keepsSnapshot: Bool = false) {
    let copy = backup.withLock { $0 }
    content.withLock { content in
      (content.first, content.entries) = (copy.first, copy.entries)
      if !keepsSnapshot { content.snapshot = copy.snapshot }
    }
  }

  /// Removes everything, like a stream that is created again.
  package func restoreEmpty() {
    content.withLock { ($0.first, $0.entries, $0.snapshot) = (1, [], nil) }
  }

  func replaceSnapshot(_ new: ReplicaLogSnapshot) -> ReplicaLogError? {
    let result: ReplicaLogError?? = content.withLock { content in
      content.snapshotCount += 1
      if let old = content.snapshot, old.sequence >= new.sequence, content.has(old) {
        return .some(nil)
      }
      if !content.has(new) { return ReplicaLogError("The log no longer has the entry.") }
      content.snapshot = new
      content.purge(before: new.sequence - min(new.sequence, keptCount))
      return nil
    }
    if let result { return result }
    digests.broadcast(ReplicaDigest(new))
    return nil
  }

  /// Deletes an entry in the middle, like an operator.
  package func delete(_ sequence: UInt64) {
    content.withLock { $0.entries[Int(sequence - $0.first)] = nil }
  }

  /// Removes the entries before a sequence.
  package func purge(before sequence: UInt64) {
    content.withLock { $0.purge(before: sequence) }
  }

  /// Lets the time pass before the next entry.
  package func advance(by duration: Duration) {
    content.withLock { $0.time += duration.components.seconds * 1_000_000_000 }
  }
}
