internal import CLibrary
internal import Dispatch
internal import MiniRex

/// The way in which a recording begins in a file.
enum JournalBeginning {
  case empty
  case continued
  /// The file must not be written, because it has another version, or because lines of it are lost.
  case replaced
}

extension JournalFile {
  var beginning: JournalBeginning {
    get throws(JournalFailure) {
      let end: End = end.withLock { $0 }
      if end.part.length == 0 { return end.disk.lost == nil ? .empty : .replaced }
      if end.part.header.version == 1 || end.disk.lost != nil { return .replaced }
      if end.isPrepared { return .continued }
      return try hidesLoss() ? .replaced : .continued
    }
  }

  /// Begins work on another thread, unless other work runs.
  func beginWork(isCompaction: Bool) -> Bool {
    end.withLock { end in
      if end.isBusy || end.isUnlocked { return false }
      end.isBusy = true
      if isCompaction { end.compaction = .running }
      work.enter()
      return true
    }
  }

  /// Waits until no other work runs, and begins a compaction.
  ///
  /// - Returns: `false` if the journal was released.
  func awaitWork() -> Bool {
    while !beginWork(isCompaction: true) {
      if end.withLock({ $0.isUnlocked }) { return false }
      work.wait()
    }
    return true
  }

  func endWork() {
    end.withLock { end in
      end.isBusy = false
      if end.compaction == .running { end.compaction = .idle }
    }
    work.leave()
  }

  /// Appends a snapshot that another thread has encoded.
  ///
  /// - Parameters:
  ///   - version: The version of the state.
  ///   - part: The file, up to the snapshot's commit.
  func append(
    _ json: JournalLineWriter.JSON, _ version: Int, after part: JournalPart, by writer: Int
  ) throws(JournalFailure) {
    try end.withLock { end throws(JournalFailure) in
      guard end.writer == writer, end.part.file === part.file, end.disk.lost == nil, !end.isUnlocked
      else { return }
      try prepare(&end)
      let back = end.part.length - part.length
      var lines = JournalLineWriter()
      lines.append(
        part.number, .init(version: version, back: back > 0 ? back : nil), "\"snapshot\"", json)
      var done = 0
      do throws(JournalFailure) {
        try write(lines.bytes, to: end.part.file.number, &done)
      } catch {
        end.isTorn = true
        throw error
      }
      end.part.length += lines.bytes.count
      end.weight.last = .init(end: end.part.length, bytes: json.count)
      end.weight.actions = end.part.number - part.number
      end.generation += 1
    }
  }

  var status: JournalStatus {
    end.withLock { end in
      var status = JournalStatus()
      status.firstNumber = end.segments.list.first?.first ?? end.part.header.first
      status.lastNumber = end.part.number
      status.durableNumber = end.disk.durable
      status.fileBytes = end.part.length
      status.segments = end.segments.list.count
      status.segmentBytes = end.segments.list.reduce(0) { $0 + $1.bytes }
      status.bytesCutAtOpen = end.bytesCut
      status.lastSync = end.disk.lastSync
      status.lastSyncDuration = end.disk.lastSyncDuration
      status.compaction = end.compaction
      return status
    }
  }
}

extension JournalFile {
  /// The marks of the last line, and the number of the last commit on the disk.
  var marks: (JournalMarks, durable: Int) { end.withLock { ($0.marks, $0.disk.durable) } }

  var endOfLines: (part: JournalPart, weight: JournalWeight, marks: JournalMarks) {
    end.withLock { ($0.part, $0.weight, $0.marks) }
  }

  var generation: Int { end.withLock { $0.generation } }

  /// The number of bytes of the lines after the last state.
  var bytesAfterState: Int { end.withLock { $0.part.length - $0.weight.last.end } }

  var lostFailure: JournalFailure? { end.withLock { $0.disk.lost } }

  var syncCount: (count: Int, lastDuration: Duration) {
    end.withLock { ($0.disk.syncs, $0.disk.lastSyncDuration ?? .zero) }
  }

  func noteFailedCompaction(_ failure: JournalFailure) {
    end.withLock { $0.compaction = .failed(failure) }
  }
}
