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
    var time: Int64 = 0
    var snapshot: Data?

    var last: UInt64 { first + UInt64(entries.count) - 1 }

    subscript(sequence: UInt64) -> ReplicaLogEntry? {
      sequence >= first && sequence <= last ? entries[Int(sequence - first)] : nil
    }
  }

  let content = Lock(Content())

  package init() {}

  /// The accepted entries that the log still has, in their order.
  package var entries: [ReplicaMessage] {
    content.withLock { $0.entries.compactMap { $0?.message } }
  }

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

  /// Removes the entries after a sequence, like a server that is restored from a backup.
  ///
  /// Cut all links first.
  package func restore(to sequence: UInt64) {
    content.withLock { content in
      content.entries.removeLast(Int(content.last - min(sequence, content.last)))
    }
  }

  /// Deletes an entry in the middle, like an operator.
  package func delete(_ sequence: UInt64) {
    content.withLock { $0.entries[Int(sequence - $0.first)] = nil }
  }

  /// Removes the entries before a sequence.
  package func purge(before sequence: UInt64) {
    content.withLock { content in
      let count = Int(min(max(sequence, content.first), content.last + 1) - content.first)
      content.entries.removeFirst(count)
      content.first += UInt64(count)
    }
  }

  /// Lets the time pass before the next entry.
  package func advance(by duration: Duration) {
    content.withLock { $0.time += duration.components.seconds * 1_000_000_000 }
  }
}
