internal import CLibrary

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The newest file of a journal, and the closed files before it, for a reader without a lock.
struct JournalFiles: Sendable {
  let newest: JournalPart
  let segments: JournalSegments

  init(newest: JournalPart, segments: JournalSegments) {
    self.newest = newest
    self.segments = segments
  }

  /// Opens the files at this instant.
  ///
  /// A writer that removes a torn line can shorten the file during the reading, so damage counts when it is found twice.
  init(reading path: String) throws(JournalFailure) {
    do throws(JournalFailure) {
      try self.init(path)
    } catch {
      guard case .damaged = error else { throw error }
      try self.init(path)
    }
  }

  private init(_ path: String) throws(JournalFailure) {
    let found = try JournalScan(of: openRegularFile(path, O_RDONLY))
    newest = found.part
    segments = try JournalSegments(of: path, before: found)
  }
}

/// Returns the path of a file URL.
///
/// Throws `EINVAL` for another URL, and for a path that a system call cannot take: a NUL would end it, and bytes that are
/// not UTF-8 make it empty.
func filePath(_ url: URL) throws(JournalFailure) -> String {
  let path = url.path(percentEncoded: false)
  guard url.isFileURL, !path.isEmpty, !path.utf8.contains(0) else { throw .file(.EINVAL) }
  return path
}

/// Returns the path of a file URL, with the destination of a symbolic link.
func resolvedPath(_ url: URL) throws(JournalFailure) -> String {
  _ = try filePath(url)
  return try filePath(url.resolvingSymlinksInPath())
}
