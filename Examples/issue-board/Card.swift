/// Something that is to be done.
struct Card: Sendable, Equatable, Codable, Identifiable {
  let id: Int
  var text: String
  var column = Column.todo
  /// Where it was found; `nil` if it was added by hand.
  var comment: Comment?
}

enum Column: String, Sendable, Codable, CaseIterable {
  case todo, doing, done
}

/// A `TODO` or `FIXME` in a file.
struct Comment: Sendable, Equatable, Codable {
  let file: String
  var line: Int
  let text: String

  /// True if it is the same one, which other lines may have moved.
  func isSame(as other: Comment) -> Bool {
    file == other.file && text == other.text
  }
}
