import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore

/// Everything on the page except the cards.
struct BoardStatus: Sendable, Equatable, Encodable {
  let folder: String
  let cards: Int
  let browsers: Int
  let canUndo: Bool
  let canRedo: Bool
  /// The number of files that the current search has read.
  let searched: Int?
  /// The numbers of the first kept commit and of the last commit, with a journal.
  let firstCommit: Int?
  let lastCommit: Int?
}

/// The event streams of the connected browsers.
struct Events: Sendable {
  private let session: Session
  private let views: Views
  private let browsers = PublishedProperty<[String: PublishedProperty<View>]>([:], name: "browsers")
  private let queue = DispatchQueue(label: "events")

  init(_ session: Session) {
    self.session = session
    views = Views(session.store.live(\.cards))
  }

  /// Returns the view of a connected browser.
  subscript(id: String) -> PublishedProperty<View>? { browsers.value[id] }

  /// Emits the entire view of a browser, then its changes.
  func stream(_ view: View) -> Broadcaster<Data> {
    Broadcaster { [self] receive in
      let (id, view) = (UUID().uuidString, PublishedProperty(view, name: "view"))
      browsers.modify { $0[id] = view }
      receive(Data("retry: 500\nevent: hello\ndata: \"\(id)\"\n\n".utf8))
      let status = merge(session.changes, browsers.publisher.map(\.count).map { _ in })
      let steps = merge(views.updates(view.publisher).map { $0 as RowsUpdate? }, status.map { nil })
      // One event for the changes of 20 ms, encoded on a queue, so that a sender does not wait.
      let subscription = steps.chunked(every: .milliseconds(20)).receive(on: queue)
        .scan(BoardEvent()) { $0.adding($1.compactMap(\.self), self.status) }
        .subscribe { if !$0.data.isEmpty { receive($0.data) } }
      return Subscription {
        subscription.invalidate()
        browsers.modify { $0[id] = nil }
      }
    }
  }

  private var status: BoardStatus {
    let state = session.store.state
    return BoardStatus(
      folder: state.folders.first ?? "", cards: state.cards.count, browsers: browsers.value.count,
      canUndo: session.history.canUndo.current() ?? false,
      canRedo: session.history.canRedo.current() ?? false,
      searched: session.progress.current() ?? nil, firstCommit: session.firstCommit,
      lastCommit: session.lastCommit)
  }
}

/// The text of one event, and the status that the browser has then.
private struct BoardEvent: Sendable {
  /// The number of cards in one line, so that a browser shows the first of many cards immediately.
  private static let lineLength = 500

  private var status: BoardStatus?
  private(set) var data = Data()

  func adding(_ updates: [RowsUpdate<Card>], _ status: BoardStatus) -> BoardEvent {
    var (event, steps) = (BoardEvent(status: status), [String]())
    if status != self.status { event.add("status", json(status)) }
    for update in updates {
      switch update {
      case .changes(let changes): steps.append("[\(changes.map(text).joined(separator: ","))]")
      case .all(let cards):
        steps = ["{\"all\":\(cards.count)}"]
        for start in stride(from: 0, to: cards.count, by: Self.lineLength) {
          let line = cards[start..<Swift.min(start + Self.lineLength, cards.count)]
          steps.append("{\"cards\":[\(line.map(\.json).joined(separator: ","))]}")
        }
      }
    }
    if steps.count > 100 || steps.first?.hasPrefix("{") == true {
      for step in steps { event.add("cards", "[\(step)]") }
    } else if !steps.isEmpty {
      event.add("cards", "[\(steps.joined(separator: ","))]")
    }
    return event
  }

  private mutating func add(_ name: String, _ text: String) {
    data += Data("event: \(name)\ndata: \(text)\n\n".utf8)
  }

  private func text(_ change: RowsChange<Card>) -> String {
    switch change {
    case .removed(_, let place): "{\"removed\":\(place)}"
    case .inserted(let card, let place): "{\"inserted\":\(card.json),\"at\":\(place)}"
    case .moved(let card, let from, let place):
      "{\"moved\":\(card.json),\"from\":\(from),\"at\":\(place)}"
    case .updated(let card, let place): "{\"updated\":\(card.json),\"at\":\(place)}"
    }
  }
}

extension Card {
  /// The card as JSON, by hand, because `JSONEncoder` takes much longer for 100,000 cards.
  var json: String {
    let words = "\"id\":\(id),\"text\":\(FlatValue.string(text)),\"column\":\"\(column.rawValue)\""
    guard let comment else { return "{\(words)}" }
    let place = "\"file\":\(FlatValue.string(comment.file)),\"line\":\(comment.line)"
    let owner = comment.owner.map { ",\"owner\":\(FlatValue.string($0))" } ?? ""
    return "{\(words),\(place)\(owner)}"
  }
}

func json(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: (try? encoder.encode(value)) ?? Data(), as: UTF8.self)
}
