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
  /// Executes several actions as one commit, which cannot be undone.
  case all([BoardAction])
}

/// The dependencies of the reducer.
struct Outside: Sendable {
  /// Emits the findings, and emits them again after each change in the given folders.
  let findings: @Sendable ([String]) -> Broadcaster<Findings>
  /// The number of files that the current search has read, or `nil` between searches.
  var progress = PublishedValue<Int?>.constant(nil)
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
    case .all(let actions):
      for action in actions { state.obey(action) }
      state.isByHand = false
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
    case .look, .found, .all: break
    }
  }

  mutating func add(_ text: String, _ comment: Comment? = nil) {
    lastID += 1
    let column = comment?.owner == nil ? Column.todo : .doing
    cards.append(Card(id: lastID, text: text, column: column, comment: comment))
  }

  /// Updates the cards, which keep their column and text while their comments exist.
  mutating func take(_ comments: [Comment]) {
    var left = Dictionary(grouping: comments.indices.reversed()) { comments[$0].key }
    func takeFirst(_ comment: Comment) -> Comment? {
      left[comment.key]?.popLast().map { comments[$0] }
    }
    closed = closed.compactMap(takeFirst)
    var removed: Set<Int> = []
    for card in cards {
      guard let comment = card.comment else { continue }
      let found = takeFirst(comment)
      if found == comment { continue }
      if let found { cards[id: card.id]?.comment = found } else { removed.insert(card.id) }
    }
    if !removed.isEmpty { cards.removeAll { removed.contains($0.id) } }
    for index in left.values.joined().sorted() { add(comments[index].text, comments[index]) }
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
