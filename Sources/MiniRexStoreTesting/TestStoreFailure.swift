/// A failed assertion of a ``TestStore``.
///
/// The description begins with the file and line of the failed call. `withTestStore` throws the failure, and
/// test frameworks show a thrown error at the beginning of the test. To record the failure at the failed call
/// instead, pass `onFailure` to `withTestStore`.
public struct TestStoreFailure: Error, Equatable, CustomStringConvertible {
  /// The place, the condition, at most 30 differences, and the running effects.
  public let description: String
  /// The module and file name of the failed call.
  public let fileID: String
  /// The path of the file of the failed call.
  public let filePath: StaticString
  /// The line of the failed call.
  public let line: Int
  /// The column of the failed call.
  public let column: Int

  init(_ text: String, at place: CallPlace) {
    description = "\(place.fileID):\(place.line): \(text)"
    fileID = place.fileID
    filePath = place.filePath
    line = place.line
    column = place.column
  }

  init(_ first: TestStoreFailure, description: String) {
    self.description = description
    fileID = first.fileID
    filePath = first.filePath
    line = first.line
    column = first.column
  }

  /// Returns `true` if two failures have the same description and place.
  public static func == (one: TestStoreFailure, other: TestStoreFailure) -> Bool {
    one.description == other.description && one.line == other.line && one.column == other.column
  }
}

struct CallPlace: Sendable {
  let fileID: String
  let filePath: StaticString
  let line: Int
  let column: Int
}
