/// What has happened to a file, or in a folder; see `changes()` of `URL`.
public struct FileChange: Hashable, Sendable {
  /// What can happen.
  public enum Kind: Hashable, Sendable {
    /// It came to be in the folder: made there, or moved there.
    case created
    /// It has gone from the folder, or the watched thing itself is gone.
    case removed
    /// It was written to. Of a folder, where the platform does not say more: its list has changed.
    case written
    /// Its rights, owner, dates or number of links have changed.
    case attributes
    /// The watched thing itself has another path now; it is still watched.
    case moved
    /// There were more changes than the platform remembers: look for yourself.
    case missed
  }

  /// What has happened.
  public let kind: Kind
  /// Its name in the watched folder; `nil` if it is the watched thing itself, or nobody knows.
  public let name: String?

  /// Makes a change, for tests.
  public init(_ kind: Kind, name: String? = nil) {
    self.kind = kind
    self.name = name
  }
}
