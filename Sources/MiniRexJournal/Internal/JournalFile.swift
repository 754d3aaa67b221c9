internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The file, open and locked for as long as a journal or a recording of it is there.
///
/// The lock of `end` is held while the system takes over a line, and not while it goes to the disk.
final class JournalFile: Sendable {
  private struct End: Sendable {
    /// How much of the file is whole lines.
    var length: Int
    var number: Int
    /// How much is known to be on the disk.
    var synchronised = 0
    /// Whether more than the whole lines may be there.
    var isTorn: Bool
    /// Who may append.
    var writer = 0
  }

  private let descriptor: Int32
  private let end: Lock<End>

  init(_ url: URL) throws(JournalFailure) {
    guard url.isFileURL else { throw .file(.EINVAL) }
    let path = url.path(percentEncoded: false)
    let (descriptor, isNew) = try openFile(path)
    do throws(JournalFailure) {
      try lockFile(descriptor)
      if isNew { try synchroniseFolder(of: url) }
      let found = try JournalEnd(of: descriptor)
      end = Lock(
        End(length: found.length, number: found.number, isTorn: found.isTorn))
    } catch {
      unlockAndClose(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { unlockAndClose(descriptor) }

  /// How much of the file is whole lines, and the number of the last.
  var extent: (length: Int, number: Int) {
    end.withLock { ($0.length, $0.number) }
  }

  /// From now on only lines of the one who has asked last are written.
  ///
  /// - Returns: Who that is, and what the file has.
  func beginWriting() -> (writer: Int, number: Int, isEmpty: Bool) {
    end.withLock { end in
      end.writer += 1
      return (end.writer, end.number, end.length == 0)
    }
  }

  /// Appends whole lines, by one call into the system unless that takes only a part of them.
  ///
  /// What a failed call leaves is cut off before the next line.
  ///
  /// - Returns: False if somebody else writes now.
  func append(_ lines: [UInt8], upTo number: Int, by writer: Int) throws(JournalFailure) -> Bool {
    try end.withLock { end throws(JournalFailure) in
      guard end.writer == writer else { return false }
      if end.isTorn {
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

  /// Waits until all that was written before the call is on the disk.
  func synchronise() throws(JournalFailure) {
    let length: Int? = end.withLock { $0.synchronised < $0.length ? $0.length : nil }
    guard let length else { return }
    try MiniRexJournal.synchronise(descriptor)
    end.withLock { $0.synchronised = max($0.synchronised, length) }
  }
}
