internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Excludes other journals from a file until it is released.
///
/// A synchronization that still runs then keeps the descriptor, but not the lock.
final class JournalHold: Sendable {
  let file: JournalFile

  init(_ url: URL) throws(JournalFailure) { file = try JournalFile(url) }

  deinit { file.unlock() }
}

/// The open and locked file of a journal and its recordings.
///
/// Thread-safe. `write` runs with the lock of `end`. `fdatasync` runs with the lock of `syncs`, so that one runs at a
/// time. The locks nest in the order `syncs`, `end`.
final class JournalFile: Sendable {
  private struct End: Sendable {
    /// The length of the complete lines.
    var length: Int
    var number: Int
    /// The length that is known to be on the disk.
    var synchronized = 0
    /// A Boolean value that indicates whether bytes may follow the complete lines.
    var isTorn: Bool
    /// The ID of the recording that may append.
    var writer = 0
    /// A Boolean value that indicates whether another journal may have the file.
    var isUnlocked = false
  }

  private struct Syncs: Sendable {
    var count = 0
    var lastDuration = Duration.zero
  }

  private let descriptor: Int32
  private let path: String
  /// The reason why the file can only be read.
  private let refusal: JournalFailure?
  private let end: Lock<End>
  private let syncs = Lock(Syncs())

  init(_ url: URL) throws(JournalFailure) {
    guard url.isFileURL else { throw .file(.EINVAL) }
    path = url.path(percentEncoded: false)
    let (descriptor, refusal) = try openAndLock(path)
    do throws(JournalFailure) {
      let found = try JournalEnd(of: descriptor)
      // The process that created the file may have been killed before it synchronized the folder.
      if found.length == 0, refusal == nil { try synchronizeFolder(of: path) }
      end = Lock(End(length: found.length, number: found.number, isTorn: found.isTorn))
    } catch {
      unlockAndClose(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.refusal = refusal
  }

  deinit { close(descriptor) }

  func unlock() {
    end.withLock { $0.isUnlocked = true }
    flock(descriptor, LOCK_UN)
  }

  var isWritable: Bool { refusal == nil }

  /// The length of the complete lines, and the number of the last of them.
  var extent: (length: Int, number: Int) {
    end.withLock { ($0.length, $0.number) }
  }

  /// Makes the caller the only writer.
  ///
  /// - Returns: The caller's ID, the last number, and the length of the complete lines.
  func beginWriting() -> (writer: Int, number: Int, length: Int) {
    end.withLock { end in
      end.writer += 1
      return (end.writer, end.number, end.length)
    }
  }

  /// Appends complete lines, by one call of `write` unless the system takes only a part of them.
  ///
  /// The remains of a failed call are removed before the next line.
  ///
  /// - Returns: `false` if another recording has begun to write.
  func append(_ lines: [UInt8], upTo number: Int, by writer: Int) throws(JournalFailure) -> Bool {
    try end.withLock { end throws(JournalFailure) in
      guard end.writer == writer else { return false }
      if let refusal { throw refusal }
      if end.isTorn {
        // Truncating a shorter file would fill it with zeros.
        if Int(try status(of: descriptor).st_size) < end.length { throw .inUse }
        try check { ftruncate(descriptor, off_t(end.length)) }
        end.isTorn = false
      }
      end.isTorn = true
      try write(lines, to: descriptor)
      end.isTorn = false
      end.length += lines.count
      end.number = number
      return true
    }
  }

  func read(at offset: Int, upTo count: Int, appendingTo bytes: inout [UInt8])
    throws(JournalFailure)
  {
    try MiniRexJournal.read(descriptor, at: offset, upTo: count, appendingTo: &bytes)
  }

  func linesBackwards(before end: Int) -> JournalLinesBackwards {
    JournalLinesBackwards(of: descriptor, before: end)
  }

  /// The number of synchronizations, and the duration of the last.
  var syncCount: (count: Int, lastDuration: Duration) {
    syncs.withLock { ($0.count, $0.lastDuration) }
  }

  /// Waits until all lines that were written before the call are on the disk.
  ///
  /// Throws `inUse` if the path names another file, or if the length is not the length that was written: a
  /// restart would not find the lines.
  func synchronize() throws(JournalFailure) {
    if refusal != nil { return }
    try syncs.withLock { syncs throws(JournalFailure) in
      guard let length = try unsynchronizedLength() else { return }
      let start = ContinuousClock.now
      try MiniRexJournal.synchronize(descriptor)
      syncs.lastDuration = ContinuousClock.now - start
      syncs.count += 1
      end.withLock { $0.synchronized = max($0.synchronized, length) }
    }
  }

  /// Returns the length to synchronize, or `nil` if it is on the disk.
  private func unsynchronizedLength() throws(JournalFailure) -> Int? {
    if end.withLock({ $0.isUnlocked }) { return end.withLock { $0.length } }
    let isNamed = try isNamed(path, descriptor)
    return try end.withLock { end throws(JournalFailure) in
      let length = Int(try status(of: descriptor).st_size)
      guard isNamed, length == end.length || end.isTorn && length > end.length || end.isUnlocked
      else { throw .inUse }
      return end.synchronized < end.length ? end.length : nil
    }
  }
}

private func openAndLock(_ path: String) throws(JournalFailure) -> (Int32, refusal: JournalFailure?)
{
  while true {
    let (descriptor, refusal) = try openFile(path)
    do throws(JournalFailure) {
      try lockFile(descriptor, refusal == nil ? LOCK_EX : LOCK_SH)
      // Another program may have renamed or removed the file before it was locked.
      if try isNamed(path, descriptor) { return (descriptor, refusal) }
    } catch {
      unlockAndClose(descriptor)
      if error != .file(.ENOENT) { throw error }
      continue
    }
    unlockAndClose(descriptor)
  }
}
