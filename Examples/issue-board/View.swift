import Foundation
import MiniRex
import MiniRexStore

/// The part of the board that one browser shows.
struct View: Sendable, Equatable {
  enum Order: String, Sendable, CaseIterable {
    case newest, oldest, text, place
  }

  var search = ""
  var order = Order.newest

  /// The words that a card must contain, in lowercase.
  var words: [Substring] { search.lowercased().split(separator: " ") }
}

/// The live queries of all browsers.
struct Views: Sendable {
  private struct Kind: Equatable {
    let order: View.Order
    let isSearching: Bool
  }

  private let cards: LiveRows<Card>
  /// Browsers without a search share the index of their order.
  private let sorted: [View.Order: LiveRows<Card>]
  /// Keeps the index of the default order, so that the next browser does not sort all cards.
  private let kept: Subscription?

  init(_ cards: LiveRows<Card>) {
    self.cards = cards
    sorted = Dictionary(
      uniqueKeysWithValues: View.Order.allCases.map { order in
        (order, cards.sorted { CardKey($0, order) })
      })
    kept = sorted[View().order]?.count.subscribe { _ in }
  }

  /// Emits the cards of a browser, then their changes.
  ///
  /// Another search is an update of the same query. Another order starts another query.
  func updates(_ view: PublishedValue<View>) -> Broadcaster<RowsUpdate<Card>> {
    let kinds = view.map { Kind(order: $0.order, isSearching: !$0.words.isEmpty) }
    return kinds.broadcaster.flatMapLatest { [cards, sorted] kind in
      if !kind.isSearching, let all = sorted[kind.order] { return all.updates }
      return cards.filter(by: view.map(\.words)) { $0.contains($1) }
        .sorted { CardKey($0, kind.order) }.updates
    }
  }
}

/// The place of a card in an order: all cards of a column, then all cards of the next column.
private struct CardKey: Comparable {
  let column: Int
  let text: String
  let number: Int

  init(_ card: Card, _ order: View.Order) {
    column = Column.allCases.firstIndex(of: card.column) ?? 0
    (text, number) =
      switch order {
      case .newest: ("", -card.id)
      case .oldest: ("", card.id)
      case .text: (card.text.lowercased(), card.id)
      // Cards without a comment come last.
      case .place: (card.comment?.file ?? "\u{10FFFF}", card.comment?.line ?? card.id)
      }
  }

  static func < (one: CardKey, other: CardKey) -> Bool {
    (one.column, one.text, one.number) < (other.column, other.text, other.number)
  }
}

extension Card {
  /// Returns `true` if each word occurs in the number, the text, the file, or the owner.
  func contains(_ words: [Substring]) -> Bool {
    let place = "\(comment?.file ?? "") \(comment?.owner ?? "")"
    let all = "#\(id) \(text) \(place)".lowercased()
    return words.allSatisfy { all.contains($0) }
  }
}
