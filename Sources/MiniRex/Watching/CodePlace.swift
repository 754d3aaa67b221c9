/// A line of code.
///
/// ```swift
/// let here = CodePlace(fileID: #fileID, line: #line)
/// print(here)  // prints Kitchen/Oven.swift:12
/// ```
public struct CodePlace: Hashable, Sendable, CustomStringConvertible {
  /// The module and the file, as `#fileID` tells them.
  public let fileID: String
  /// The line, as `#line` tells it.
  public let line: Int

  /// Makes a place of what `#fileID` and `#line` tell.
  public init(fileID: String, line: Int) {
    self.fileID = fileID
    self.line = line
  }

  /// What compilers write, so that editors find it.
  public var description: String { "\(fileID):\(line)" }
}
