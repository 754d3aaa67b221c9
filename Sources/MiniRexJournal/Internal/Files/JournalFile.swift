internal import CLibrary
internal import Dispatch
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Excludes other journals from a file until it is released.
///
/// A synchronization or compaction that still runs then keeps the descriptor, but not the lock.
final class JournalHold: Sendable {
  let file: JournalFile

  init(_ url: URL, keeping history: JournalHistory, upcasting: JournalUpcasting)
    throws(JournalFailure)
  {
    file = try JournalFile(url, keeping: history, upcasting: upcasting)
  }

  deinit { file.unlock() }
}

/// The open and locked file of a journal and its recordings.
///
/// Thread-safe. `write` runs with the lock of `end`. `fdatasync` runs with `syncing`, so that one runs at a time,
/// except in `prepare`, which runs with `end` before the first line. The locks nest in the order `syncing`, `end`. A
/// compaction replaces the file with both locks.
final class JournalFile: Sendable {
  /// The destination of a symbolic link, because a compaction must not replace the link.
  let path: String
  let history: JournalHistory
  /// The reason why the file can only be read.
  let refusal: JournalFailure?
  let end: Lock<End>
  let syncing = Lock(())
  let work = DispatchGroup()

  init(_ url: URL, keeping history: JournalHistory, upcasting: JournalUpcasting)
    throws(JournalFailure)
  {
    self.history = history
    let (descriptor, refusal) = try openAndLock(filePath(url))
    path = try resolvedPath(url)
    do throws(JournalFailure) {
      let found = try JournalScan(of: descriptor, upcasting)
      self.refusal = refusal ?? found.newer
      // A history needs the folder, and a file of version 1 is always kept.
      if self.refusal == nil, history.span != .none || found.part.header.version == 1 {
        try requireSameDisk(descriptor.number, path, path + folderSuffix)
      }
      if self.refusal == nil { unsafe unlink(path + nextSuffix) }
      // The process that created the file may have been killed before it synchronized the folder.
      if found.part.length == 0, self.refusal == nil { try synchronizeFolder(of: path) }
      end = Lock(
        End(
          part: found.part, isTorn: found.tornBytes > 0, unconfirmed: found.unconfirmed,
          disk: JournalDisk(durable: found.synced), marks: JournalMarks(found),
          weight: JournalWeight(found),
          segments: try JournalSegments(of: path, before: found),
          bytesCut: found.tornBytes))
    } catch {
      flock(descriptor.number, LOCK_UN)
      throw error
    }
  }

  /// Ends a running compaction, because another journal may then use the names of its files.
  func unlock() {
    vouch()
    end.withLock { end in
      end.isUnlocked = true
      if end.isBusy { unsafe unlink(path + nextSuffix) }
      flock(end.part.file.number, LOCK_UN)
    }
  }

  var isWritable: Bool { refusal == nil }

  /// The complete lines.
  var extent: JournalPart { end.withLock { $0.part } }

  /// Makes the caller the only writer.
  ///
  /// - Returns: The caller's ID.
  func beginWriting() -> Int {
    end.withLock { end in
      end.writer += 1
      return end.writer
    }
  }

  /// Appends complete lines, by one call of `write` unless the system takes only a part of them.
  ///
  /// After a failed call, its complete lines count, and the rest is removed before the next line.
  ///
  /// - Returns: The end of the file after the lines, or `nil` if another recording has begun to write.
  func append(_ lines: JournalLineWriter, upTo number: Int, _ marks: JournalMarks, by writer: Int)
    throws(JournalFailure) -> (part: JournalPart, weight: JournalWeight)?
  {
    try end.withLock { end throws(JournalFailure) in
      guard end.writer == writer else { return nil }
      if number > largestNumber { throw .file(.EOVERFLOW) }
      try prepare(&end)
      var done = 0
      do throws(JournalFailure) {
        try write(lines.bytes, to: end.part.file.number, &done)
      } catch {
        end.isTorn = true
        end.takeComplete(lines.bytes[..<done])
        throw error
      }
      end.weight.add(lines, at: end.part.endOfLines)
      if end.part.length == 0 { end.weight.firstSecond = marks.second }
      end.marks = marks
      end.part.length = end.part.endOfLines + lines.bytes.count
      end.part.number = number
      end.generation += 1
      return (end.part, end.weight)
    }
  }

  /// Waits until all lines that were written before the call are on the disk.
  ///
  /// Throws `inUse` if the path names another file, or if the length is not the length that was written: a
  /// restart would not find the lines.
  func synchronize() throws(JournalFailure) {
    if refusal != nil { return }
    try syncing.withLock { _ throws(JournalFailure) in
      guard let part = try unsynchronized() else { return }
      let start = ContinuousClock.now
      do throws(JournalFailure) {
        try MiniRexJournal.synchronize(part.file.number)
      } catch {
        // Linux marks the pages clean, so a later call would succeed without them.
        end.withLock { $0.disk.lost = error }
        throw error
      }
      let duration = ContinuousClock.now - start
      end.withLock { end in
        end.disk.length = part.length
        end.disk.durable = max(end.disk.durable, part.length > 0 ? part.number : -1)
        end.disk.countSync(duration)
      }
    }
  }

  /// Returns the lines to synchronize, or `nil` if they are on the disk.
  private func unsynchronized() throws(JournalFailure) -> JournalPart? {
    let (file, isUnlocked, lost) = end.withLock { ($0.part.file, $0.isUnlocked, $0.disk.lost) }
    if let lost { throw lost }
    if isUnlocked { return extent }
    let isNamed = try isNamed(path, file.number)
    return try end.withLock { end throws(JournalFailure) in
      let length = Int(try fileStatus(of: file.number).st_size)
      let isExpected = length == end.part.length || end.isTorn && length > end.part.length
      guard isNamed && isExpected || end.isUnlocked else { throw .inUse }
      return end.disk.length < end.part.length ? end.part : nil
    }
  }
}

private func openAndLock(_ path: String) throws(JournalFailure) -> (
  JournalDescriptor, refusal: JournalFailure?
) {
  while true {
    let (descriptor, refusal) = try openFile(path)
    do throws(JournalFailure) {
      try lockFile(descriptor.number, refusal == nil ? LOCK_EX : LOCK_SH)
      // Another program may have renamed or removed the file before it was locked.
      if try isNamed(path, descriptor.number) { return (descriptor, refusal) }
    } catch {
      // Unlock explicitly: a child process has a copy of the descriptor, and with it the lock, until `exec`.
      flock(descriptor.number, LOCK_UN)
      if error != .file(.ENOENT) { throw error }
      continue
    }
    flock(descriptor.number, LOCK_UN)
  }
}

let nextSuffix = ".next"
