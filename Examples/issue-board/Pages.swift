import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexPageServer
import MiniRexStore

/// Serves the board to browsers.
struct Pages: Sendable {
  private let session: Session
  private let snapshots: PublishedValue<BoardSnapshot>

  init(_ session: Session) {
    self.session = session
    // Senders do not wait for the encoding. Commits during an encoding are combined, so that at
    // most one board is queued.
    snapshots = session.shown
      .receive(on: DispatchQueue(label: "pages"), buffering: .bufferingNewest(1))
      .scan(BoardSnapshot()) { $0.adding($1) }
      .publishedValue(initial: BoardSnapshot())
  }

  func answer(_ request: Request) async -> Reply {
    switch (request.method, request.path) {
    case ("GET", "/"): .page(Data(PackageResources.page_html))
    case ("GET", "/cards"): .content("application/json", json(session.store.state.cards))
    case ("GET", "/commits"): session.lastCommit.map { plain("\($0)") } ?? .status(.notFound)
    case ("GET", let path) where path.hasPrefix("/commits/"): past(path.dropFirst(9))
    // Each event builds on the previous event, so a browser that missed an event starts again.
    case ("GET", "/events"): .events(events, .beginsAnew)
    case ("POST", "/"): await obey(request.body)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }

  /// Emits the entire board, and then the changes.
  private var events: Broadcaster<Data> {
    snapshots.scan(Data()) { $0.isEmpty ? $1.whole : $1.change }
  }

  private func past(_ number: Substring) -> Reply {
    guard let past = try? Int(number).flatMap(session.past) else { return .status(.notFound) }
    let changes = past.changes.mapValues { FlatValue.string("\($0)") }
    let members = "\"board\":\(json(past.board.values)),\"changes\":\(json(changes))"
    return .content("application/json", Data("{\(members)}".utf8))
  }

  /// Executes a command, as a line on the terminal does.
  private func obey(_ body: Data) async -> Reply {
    guard let text = String(data: body, encoding: .utf8) else { return .status(.badRequest) }
    return switch await session.obey(text.trimmingCharacters(in: .newlines)) {
    case .done: .status(.noContent)
    case .text(let text): plain(text)
    case .refused(let advice): .status(.badRequest, because: advice)
    case .quit: .status(.badRequest, because: "Only the terminal accepts quit.")
    }
  }
}

private func plain(_ text: String) -> Reply {
  .content("text/plain; charset=utf-8", Data(text.utf8))
}

private func json(_ value: some Encodable) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)) ?? Data()
}
