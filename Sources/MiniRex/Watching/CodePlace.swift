/// A line of source code.
///
/// ```swift
/// let here = CodePlace(fileID: #fileID, line: #line)
/// print(here)  // prints Kitchen/Oven.swift:12
/// ```
public struct CodePlace: Hashable, Sendable, CustomStringConvertible {
  /// The module and the file, as `#fileID` returns them.
  public let fileID: String
  /// The line, as `#line` returns it.
  public let line: Int

  /// Creates a place from the values of `#fileID` and `#line`.
  public init(fileID: String, line: Int) {
    self.fileID = fileID
    self.line = line
  }

  /// The file and the line in the form of compiler messages, which editors recognize.
  public var description: String { "\(fileID):\(line)" }
}
