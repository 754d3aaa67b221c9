/// A task on the board.
struct Card: Sendable, Equatable, Codable, Identifiable {
  let id: Int
  var text: String
  var column = Column.todo
  /// The comment of the card, or `nil` if a user added the card.
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

  /// Returns `true` for the same comment on any line.
  func isSame(as other: Comment) -> Bool {
    file == other.file && text == other.text
  }
}
