import MiniRex
import MiniRexStore

struct Board: Sendable, Equatable {
  var cards: [Card] = []
  var lastID = 0
  /// What was found and closed, so that it does not come back while it stands in its file.
  var closed: [Comment] = []
  var folders: [String] = []
}

enum BoardAction: Sendable, Equatable {
  /// Look into the folder.
  case look
  case found(Findings)
  case add(String)
  case edit(Int, String)
  case move(Int, Column)
  case close(Int)
}

/// What is asked of the outside: the comments below a folder, and when there may be others.
struct Outside: Sendable {
  let find: @Sendable () throws -> Findings
  let changes: @Sendable ([String]) -> Broadcaster<Void>
}

func board(_ outside: Outside) -> Reducer<Board, BoardAction> {
  { state, action in
    switch action {
    case .look:
      return .run { send in send(.found(try outside.find())) }
        .cancellable(id: "look", cancelInFlight: true)
    case .found(let findings):
      state.take(findings.comments)
      if findings.folders == state.folders { return .none }
      state.folders = findings.folders
      // What has changed before the new folders were followed is found by looking again.
      return .merge(follow(findings.folders, outside), .send(.look))
    case .add(let text):
      state.add(text)
    case .edit(let id, let text):
      state.change(id) { $0.text = text }
    case .move(let id, let column):
      state.change(id) { $0.column = column }
    case .close(let id):
      state.closed += state.cards.filter { $0.id == id }.compactMap(\.comment)
      state.cards.removeAll { $0.id == id }
    }
    return .none
  }
}

private func follow(_ folders: [String], _ outside: Outside) -> Effect<BoardAction> {
  .publisher { outside.changes(folders).map { .look } }
    .cancellable(id: "follow", cancelInFlight: true)
}

extension Board {
  mutating func add(_ text: String, _ comment: Comment? = nil) {
    lastID += 1
    cards.append(Card(id: lastID, text: text, comment: comment))
  }

  mutating func change(_ id: Int, _ body: (inout Card) -> Void) {
    if let index = cards.firstIndex(where: { $0.id == id }) { body(&cards[index]) }
  }

  /// Cards whose comments are gone go too; those that stay keep their column and text.
  mutating func take(_ comments: [Comment]) {
    var left = comments
    func takeFirst(_ comment: Comment) -> Comment? {
      left.firstIndex { $0.isSame(as: comment) }.map { left.remove(at: $0) }
    }
    closed = closed.compactMap(takeFirst)
    cards = cards.compactMap { card in
      guard let comment = card.comment else { return card }
      guard let found = takeFirst(comment) else { return nil }
      var card = card
      card.comment = found
      return card
    }
    for comment in left { add(comment.text, comment) }
  }

  /// What the terminal shows.
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
