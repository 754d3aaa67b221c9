import Foundation
import MiniRex
import MiniRexStore

/// The board that browsers show, with a key for each card, so that the path of a change names it.
struct ShownBoard: Sendable, Equatable, Encodable {
  let folder: String
  let cards: Rows<Card>
  var canUndo = false
  var canRedo = false

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(folder, forKey: Key(stringValue: "folder"))
    try container.encode(canUndo, forKey: Key(stringValue: "canUndo"))
    try container.encode(canRedo, forKey: Key(stringValue: "canRedo"))
    for card in cards { try container.encode(card, forKey: Key(stringValue: "\(card.id)")) }
  }
}

/// The current board, and the event that leads to it from the previous board.
struct BoardSnapshot: Sendable, Equatable {
  private var number = 0
  private var board: FlatState?
  /// The event for browsers that have the previous board, encoded once for all of them.
  private(set) var change = Data()

  func adding(_ board: ShownBoard) -> BoardSnapshot {
    guard let board = try? FlatState(board) else { return self }
    var snapshot = BoardSnapshot(number: number + 1, board: board)
    guard let old = self.board else {
      snapshot.change = snapshot.whole
      return snapshot
    }
    let changes = board.changes(since: old)
    if changes.isEmpty { return self }
    snapshot.change = Data("data: \(json(changes.mapValues { $0.value ?? .null }))\n\n".utf8)
    return snapshot
  }

  /// The event for new browsers.
  var whole: Data {
    Data("retry: 500\nevent: board\ndata: \(json(board?.values ?? [:]))\n\n".utf8)
  }

  static func == (one: BoardSnapshot, other: BoardSnapshot) -> Bool { one.number == other.number }
}

func json(_ values: [String: FlatValue]) -> String {
  let members = values.sorted { $0.key < $1.key }
    .map { "\(FlatValue.string($0.key)):\($0.value)" }
  return "{\(members.joined(separator: ","))}"
}
