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
  /// The same comment on any line.
  struct Key: Hashable {
    let file: String
    let text: String
  }

  let file: String
  var line: Int
  let text: String
  /// The name in `TODO(name)`.
  ///
  /// The card of such a comment starts in the column `doing`.
  var owner: String?

  var key: Key { Key(file: file, text: text) }
}
