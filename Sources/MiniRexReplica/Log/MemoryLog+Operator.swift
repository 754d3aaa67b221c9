internal import MiniRex

extension MemoryLog {
  /// The sequence of the first entry that the log has, or of the next entry.
  package var first: UInt64 { content.withLock { $0.first } }

  /// The sequence of the last entry that was accepted.
  package var last: UInt64 { content.withLock { $0.last } }

  /// The number of snapshots that replicas have offered.
  package var snapshotCount: Int { content.withLock { $0.snapshotCount } }

  /// Creates a link on which nothing happens until the test moves it.
  package func manualLink(isCut: Bool = false) -> Link {
    Link(self, isConnected: !isCut, isManual: true)
  }

  /// Removes everything, like a stream that is created again.
  package func restoreEmpty() {
    content.withLock { ($0.first, $0.entries, $0.snapshots) = (1, [], []) }
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
