public import CLibrary

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The reason why a journal cannot be opened, read, or written.
///
/// Its description has at most 300 characters, with coding paths, and no value from your data.
public enum JournalFailure: Error, Equatable, CustomStringConvertible {
  /// A system call failed with this code.
  case file(POSIXErrorCode)
  /// Another journal has the file open, or another program replaced, truncated, or extended the file.
  case inUse
  /// The folder with the closed files is on another disk than the file, so no file can be closed.
  case otherDisk(folder: String)
  /// The file was written in a format version that this module does not know.
  case version(Int)
  /// The line that begins at this byte of the file is not as it was written, or the line before it is missing.
  case damaged(atByte: Int)
  /// The decoder rejected the action or state with this number. The usual cause is a type that has changed.
  case unreadable(number: Int, String)
  /// The encoder rejected the action or state with this number.
  case unwritable(number: Int, String)
  /// The recording ended before it wrote the commit.
  case notRecording
  /// The journal no longer has the commit. Its first state has this number.
  case notKept(first: Int)
  /// A later version of the program wrote the action or state with this number.
  case newer(number: Int, version: Int)
  /// The reducer does not return the state that was recorded with this number.
  case diverged(number: Int)

  /// One sentence about the condition.
  public var description: String {
    switch self {
    case .file(let code):
      "The journal cannot use its file: \(unsafe String(cString: strerror(code.rawValue)))."
    case .inUse: "Another journal has the file open, or another program changed the file."
    case .otherDisk(let folder):
      "The folder '\(folder.suffix(150))' must be on the disk of the journal's file. "
        + "Put both on one disk, or use 'latestState'."
    case .version(let version): "The journal has format version \(version), which is unknown here."
    case .damaged(let offset): "The line at byte \(offset) of the journal is damaged."
    case .unreadable(let number, let reason):
      "The action or state with number \(number) cannot be decoded: \(reason)"
    case .unwritable(let number, let reason):
      "The action or state with number \(number) cannot be encoded: \(reason)"
    case .notRecording: "The recording ended before it wrote the commit."
    case .notKept(let first): "The journal keeps no state before number \(first)."
    case .newer(let number, let version):
      "The action or state with number \(number) has version \(version), which is unknown here."
    case .diverged(let number):
      "The actions up to number \(number) no longer lead to the recorded state."
    }
  }
}
