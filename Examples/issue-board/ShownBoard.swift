import Foundation
import MiniRexStore

/// The board after a commit, with a key for each card, so that the path of a change names it.
struct ShownBoard: Sendable, Equatable, Encodable {
  let folder: String
  let cards: Rows<Card>

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(folder, forKey: Key(stringValue: "folder"))
    for card in cards { try container.encode(card, forKey: Key(stringValue: "\(card.id)")) }
  }
}
