import MiniRex
import MiniRexStore

struct Board: Sendable, Equatable, Codable {
  var cards: Rows<Card> = []
  var lastID = 0
  /// The comments of closed cards, which stay closed while the comments exist.
  var closed: [Comment] = []
  var folders: [String] = []
  /// A Boolean value that indicates whether the last change was an edit, which can be undone.
  var isByHand = false
}

enum BoardAction: Sendable, Equatable, Codable {
  /// Searches the folder, and follows it.
  case look
  case found(Findings)
  case add(String)
  case edit(Int, String)
  case move(Int, Column)
  case close(Int)
}

/// The dependencies of the reducer.
struct Outside: Sendable {
  /// Emits the findings, and emits them again after each change in the given folders.
  let findings: @Sendable ([String]) -> Broadcaster<Findings>
}

func board(_ outside: Outside) -> Reducer<Board, BoardAction> {
  { state, action in
    switch action {
    case .look:
      return follow(state.folders, outside)
    case .found(let findings):
      let old = state
      state.take(findings.comments)
      state.folders = findings.folders
      if state != old { state.isByHand = false }
      // Search again for changes made before the new folders were followed.
      if state.folders != old.folders { return follow(state.folders, outside) }
    case .add, .edit, .move, .close:
      let old = state
      state.obey(action)
      if state != old { state.isByHand = true }
    }
    return .none
  }
}

private func follow(_ folders: [String], _ outside: Outside) -> Effect<BoardAction> {
  .publisher { outside.findings(folders).map { .found($0) } }
    .cancellable(id: "follow", cancelInFlight: true)
}

extension Board {
  fileprivate mutating func obey(_ action: BoardAction) {
    switch action {
    case .add(let text): add(text)
    case .edit(let id, let text): cards[id: id]?.text = text
    case .move(let id, let column): cards[id: id]?.column = column
    case .close(let id):
      if let comment = cards.remove(id: id)?.comment { closed.append(comment) }
    case .look, .found: break
    }
  }

  mutating func add(_ text: String, _ comment: Comment? = nil) {
    lastID += 1
    cards.append(Card(id: lastID, text: text, comment: comment))
  }

  /// Updates the cards, which keep their column and text while their comments exist.
  mutating func take(_ comments: [Comment]) {
    var left = comments
    func takeFirst(_ comment: Comment) -> Comment? {
      left.firstIndex { $0.isSame(as: comment) }.map { left.remove(at: $0) }
    }
    closed = closed.compactMap(takeFirst)
    for card in cards {
      guard let comment = card.comment else { continue }
      let found = takeFirst(comment)
      if found == comment { continue }
      if let found { cards[id: card.id]?.comment = found } else { cards.remove(id: card.id) }
    }
    for comment in left { add(comment.text, comment) }
  }

  /// The board as text for the terminal.
  var picture: String {
    Column.allCases.map { column in
      let lines = cards.filter { $0.column == column }.map { card in
        let place = card.comment.map { "  (\($0.file):\($0.line))" } ?? ""
        return "  \(card.id)  \(card.text)\(place)\n"
      }
      return "\(column.rawValue)\n" + lines.joined()
    }.joined()
  }
}
