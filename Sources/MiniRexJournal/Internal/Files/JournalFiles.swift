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
    newest = try JournalScan(of: openRegularFile(path, O_RDONLY)).part
    segments = try JournalSegments(of: path, before: newest.header)
  }
}

/// Returns the path of a file URL, with the destination of a symbolic link.
func resolvedPath(_ url: URL) throws(JournalFailure) -> String {
  guard url.isFileURL else { throw .file(.EINVAL) }
  return url.resolvingSymlinksInPath().path(percentEncoded: false)
}
