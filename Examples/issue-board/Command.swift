import MiniRexStore

/// A command from standard input or from a browser.
enum Command: Equatable {
  case action(BoardAction)
  case undo
  case redo
  case list
  case quit
  /// An invalid command, with advice.
  case refused(String)

  static let help = """
    add TEXT          adds a card
    edit NUMBER TEXT  replaces the text of a card
    move NUMBER todo|doing|done
    close NUMBER      removes a card
    undo              reverts the last edit
    redo              repeats the reverted edit
    list              prints the board
    quit
    """

  init(_ line: String, on board: Board) {
    if line.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      self = .refused("A command is one line, without control characters.")
      return
    }
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    switch words.first {
    case "undo" where words.count == 1: self = .undo
    case "redo" where words.count == 1: self = .redo
    case "list" where words.count == 1: self = .list
    case "quit" where words.count == 1: self = .quit
    case "add" where words.count > 1:
      self = .action(.add(words.dropFirst().joined(separator: " ")))
    case "edit" where words.count == 3:
      self = Self.card(words[1], on: board) { .edit($0, words[2]) }
    case "move" where words.count == 3:
      guard let column = Column(rawValue: words[2]) else {
        self = .refused("There is no column '\(words[2])'. Use todo, doing, or done.")
        return
      }
      self = Self.card(words[1], on: board) { .move($0, column) }
    case "close" where words.count == 2:
      self = Self.card(words[1], on: board) { .close($0) }
    default: self = .refused(Self.help)
    }
  }

  private static func card(
    _ word: String, on board: Board, _ action: (Int) -> BoardAction
  ) -> Command {
    guard let id = Int(word), board.cards[id: id] != nil else {
      return .refused("There is no card \(word). The cards have the numbers that the board shows.")
    }
    return .action(action(id))
  }
}
