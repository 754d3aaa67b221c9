extension JournalFile {
  /// The end of the file, where lines are appended.
  struct End: Sendable {
    var part: JournalPart
    /// A Boolean value that indicates whether bytes may follow the complete lines.
    var isTorn: Bool
    /// The offset after which a power loss may revoke the lines that the file had when it was opened.
    var unconfirmed: Int?
    var isPrepared = false
    var disk: JournalDisk
    /// The ID of the recording that may append.
    var writer = 0
    /// A Boolean value that indicates whether another journal may have the file.
    var isUnlocked = false
    /// The work on another thread: a compaction, or the encoding of a snapshot.
    var isBusy = false
    /// A number that changes with each written line.
    var generation = 0
    var marks = JournalMarks()
    var weight = JournalWeight()
    var compaction = JournalStatus.Compaction.idle
    var segments: JournalSegments
    /// A Boolean value that indicates whether the folder has no closed file of another journal or branch.
    ///
    /// Only a journal that is not open can be replaced by a copy, so the folder is listed once.
    var isOnlyBranch = false
    let bytesCut: Int

    /// Counts the complete lines of a write that failed, because a reader may have seen them.
    mutating func takeComplete(_ bytes: ArraySlice<UInt8>) {
      let lines = bytes.split(separator: newline, omittingEmptySubsequences: false).dropLast()
      guard let last = lines.last.flatMap({ JournalLine(unchecked: $0) }) else { return }
      generation += 1
      part.length = part.endOfLines + lines.reduce(0) { $0 + $1.count + 1 }
      part.number = last.number
    }
  }
}
