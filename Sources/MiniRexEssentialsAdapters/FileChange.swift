/// A change of a file, or in a folder.
///
/// See `changes()` of `URL`.
public struct FileChange: Hashable, Sendable {
  /// The kind of a change.
  public enum Kind: Hashable, Sendable {
    /// The file was created in the folder, or moved into it.
    case created
    /// The file was removed from the folder, or the watched item itself was removed.
    case removed
    /// The file was written.
    ///
    /// For a folder on platforms without details: its list has changed.
    case written
    /// The permissions, the owner, the dates, or the number of links changed.
    case attributes
    /// The watched item itself was moved.
    ///
    /// It is still watched.
    case moved
    /// More changes occurred than the platform records.
    ///
    /// Read the folder again.
    case missed
  }

  /// The kind of the change.
  public let kind: Kind
  /// The name in the watched folder, or `nil` for the watched item itself, or if it is unknown.
  ///
  /// Invalid UTF-8 is repaired.
  public let name: String?

  /// Creates a change, for tests.
  public init(_ kind: Kind, name: String? = nil) {
    self.kind = kind
    self.name = name
  }
}
