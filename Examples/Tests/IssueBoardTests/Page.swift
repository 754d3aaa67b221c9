import Foundation
import TestSupport

@testable import issue_board

/// A page that shows the cards of its view as the page of the program does, and reconnects after an
/// interruption.
final class Page: Sendable {
  fileprivate struct State {
    var id = ""
    var rows: [ShownCard] = []
    var status: [String: String] = [:]
    var client: HTTPClient?
    var isOpen = true
    var visits = 0
    /// The number of events with all cards.
    var resets = 0
    var changes: [String: Int] = [:]
  }

  private let state = Shared(State())

  /// - Parameter query: The view, as in `search=needle&order=text`.
  init(_ port: UInt16, _ query: String = "") {
    onNewThread { [state] in
      while let client = try? HTTPClient(port) {
        let isOpen = state.change { state in
          state.client = client
          return state.isOpen
        }
        if !isOpen { return }
        client.forEachEvent(at: "/events?\(query)") { lines in state.change { $0.take(lines) } }
      }
    }
  }

  /// The name of the view.
  var id: String { state.value.id }

  /// The cards in the order of the page.
  var rows: [ShownCard] { state.value.rows }

  /// The cards by number, as text.
  var cards: String { text(state.value.rows) }

  /// The values of the last status, by name.
  var status: [String: String] { state.value.status }

  /// The number of connections.
  var visits: Int { state.value.visits }

  var resets: Int { state.value.resets }

  /// The number of changes of each kind, after the first cards.
  var changes: [String: Int] { state.value.changes }

  /// Simulates a short loss of the network.
  func interrupt() { state.value.client?.cancel() }

  func close() {
    state.change { $0.isOpen = false }
    interrupt()
  }
}

/// A card in an event.
struct ShownCard: Decodable, Equatable {
  let id: Int
  let text: String
  let column: Column
  var file: String?
  var line: Int?
  var owner: String?

  init(_ card: Card) {
    (id, text, column) = (card.id, card.text, card.column)
    (file, line, owner) = (card.comment?.file, card.comment?.line, card.comment?.owner)
  }
}

/// One step of an event: all cards of a view follow, or some of them, or the changes of one update.
private enum Step: Decodable {
  struct Change: Decodable {
    var removed: Int?
    var inserted: ShownCard?
    var moved: ShownCard?
    var updated: ShownCard?
    var from: Int?
    var at: Int?

    var kind: String {
      if inserted != nil { return "inserted" }
      return moved != nil ? "moved" : updated != nil ? "updated" : "removed"
    }
  }

  private struct Rows: Decodable {
    var all: Int?
    var cards: [ShownCard]?
  }

  case all
  case cards([ShownCard])
  case changes([Change])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let changes = try? container.decode([Change].self) {
      self = .changes(changes)
    } else {
      self = try container.decode(Rows.self).cards.map { .cards($0) } ?? .all
    }
  }
}

extension Page.State {
  fileprivate mutating func take(_ lines: [String]) {
    guard let line = lines.last(where: { $0.hasPrefix("data: ") }) else { return }
    let data = Data(line.dropFirst(6).utf8)
    if lines.contains("event: hello") {
      id = (try? JSONDecoder().decode(String.self, from: data)) ?? ""
      visits += 1
    } else if lines.contains("event: status") {
      let values = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
      status = (values ?? [:]).mapValues { "\($0)" }
    } else if lines.contains("event: cards") {
      for step in (try? JSONDecoder().decode([Step].self, from: data)) ?? [] { take(step) }
    }
  }

  private mutating func take(_ step: Step) {
    switch step {
    case .all:
      rows = []
      resets += 1
    case .cards(let cards): rows += cards
    case .changes(let changes):
      for place in changes.compactMap({ $0.removed ?? $0.from }).sorted(by: >) {
        rows.remove(at: place)
      }
      for change in changes {
        if let card = change.inserted ?? change.moved { rows.insert(card, at: change.at ?? 0) }
        if let card = change.updated { rows[change.at ?? 0] = card }
        self.changes[change.kind, default: 0] += 1
      }
    }
  }
}

/// Returns the cards, sorted by number.
func text(_ cards: [ShownCard]) -> String {
  cards.sorted { $0.id < $1.id }.map { card in
    let place = card.file.map { " \($0):\(card.line ?? 0)" } ?? ""
    return "\(card.id) \(card.column) \(card.text)\(place)\n"
  }.joined()
}
