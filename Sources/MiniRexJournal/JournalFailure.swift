public import CLibrary

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Why a journal cannot be opened, read or written.
public enum JournalFailure: Error, Equatable, CustomStringConvertible {
  /// What the system has said.
  case file(POSIXErrorCode)
  /// Another journal has the file open, in this process or in another one.
  case inUse
  /// The file is a journal whose lines have another form than those that are known here.
  case version(Int)
  /// The line that begins at this byte of the file is not as it was written, or one before it is missing.
  case damaged(atByte: Int)
  /// The line with this number is whole, but its action or state cannot be decoded, and what the decoder
  /// says: as a rule, the type has changed.
  case unreadable(number: Int, String)
  /// The action or state of this number cannot be encoded, and what the encoder says.
  case unwritable(number: Int, String)
  /// The reducer makes another state of the actions up to this number than it has made before.
  case diverged(number: Int)

  /// One sentence.
  public var description: String {
    switch self {
    case .file(let code): "The file of the journal: \(POSIXError(code))."
    case .inUse: "Another journal has the file open."
    case .version(let version): "The file is a journal of the version \(version), unknown here."
    case .damaged(let offset): "The line at byte \(offset) of the journal is damaged."
    case .unreadable(let number, let reason): "What has number \(number) cannot be read: \(reason)"
    case .unwritable(let number, let reason):
      "What has number \(number) cannot be written: \(reason)"
    case .diverged(let number): "The actions up to number \(number) no longer make the same state."
    }
  }
}
