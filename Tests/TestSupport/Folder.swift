public import Foundation

/// A temporary folder that is removed when this object is released.
public final class Folder: Sendable {
  /// The location of the folder.
  public let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  /// Creates an empty folder.
  public init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The names of all files, including hidden files.
  public var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }

  /// Returns the location of a file in the folder.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// Returns the path of a file in the folder.
  public func path(_ name: String) -> String { file(name).path }

  /// The path `bad` and the byte 255, with its final zero.
  package var pathThatIsNotUTF8: [CChar] {
    Array(path("bad").utf8CString.dropLast()) + [CChar(truncatingIfNeeded: 0xFF), 0]
  }

  /// Writes the file, replacing its content in place, and returns its path.
  @discardableResult
  public func write(_ text: String, to name: String) throws -> String {
    try write(Data(text.utf8), to: name)
  }

  /// Writes the file, and returns its path.
  @discardableResult
  public func write(_ data: Data, to name: String) throws -> String {
    try data.write(to: file(name))
    return path(name)
  }

  /// Appends text to an existing file.
  public func append(_ text: String, to name: String) throws {
    let handle = try FileHandle(forWritingTo: file(name))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  /// Creates a folder inside.
  public func make(_ name: String) throws {
    try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: false)
  }

  /// Renames a file.
  public func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(at: file(name), to: file(other))
  }
}
