import Foundation
import MiniRex
import MiniRexStore

/// What browsers show: each card stands below its number, so that the path of a change names it.
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

/// What browsers have been told: the board as it is now, and what was new.
struct Told: Sendable, Equatable {
  private var number = 0
  private var board: FlatState?
  /// The event for those who have the board before it, written once for all of them.
  private(set) var change = Data()

  func adding(_ board: ShownBoard) -> Told {
    guard let board = try? FlatState(board) else { return self }
    var told = Told(number: number + 1, board: board)
    guard let old = self.board else {
      told.change = told.whole
      return told
    }
    let changes = board.changes(since: old)
    if changes.isEmpty { return self }
    told.change = Data("data: \(json(changes.mapValues { $0.value ?? .null }))\n\n".utf8)
    return told
  }

  /// The event for those who have nothing.
  var whole: Data {
    Data("retry: 500\nevent: board\ndata: \(json(board?.values ?? [:]))\n\n".utf8)
  }

  static func == (one: Told, other: Told) -> Bool { one.number == other.number }
}

func json(_ values: [String: FlatValue]) -> String {
  let members = values.sorted { $0.key < $1.key }
    .map { "\(FlatValue.string($0.key)):\($0.value)" }
  return "{\(members.joined(separator: ","))}"
}
