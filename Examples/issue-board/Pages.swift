import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexPageServer
import MiniRexStore

/// The board as browsers have it.
struct Pages: Sendable {
  private let session: Session
  private let told: PublishedValue<Told>

  init(_ session: Session) {
    self.session = session
    // Whoever sends does not wait for browsers to be told. What happens meanwhile is told at once, so that
    // never more than one board waits.
    told = session.shown
      .receive(on: DispatchQueue(label: "pages"), buffering: .bufferingNewest(1))
      .scan(Told()) { $0.adding($1) }
      .publishedValue(initial: Told())
  }

  func answer(_ request: Request) async -> Reply {
    switch (request.method, request.path) {
    case ("GET", "/"): .content("text/html; charset=utf-8", Data(PackageResources.page_html))
    case ("GET", "/cards"): .content("application/json", json(session.store.state.cards))
    case ("GET", "/commits"): session.lastCommit.map { plain("\($0)") } ?? .status(.notFound)
    case ("GET", let path) where path.hasPrefix("/commits/"): past(path.dropFirst(9))
    // Each event follows from the one before, so who has missed one begins anew.
    case ("GET", "/events"): .events(events, .beginsAnew)
    case ("POST", "/"): await obey(request.body)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }

  /// The whole board, and then what changes.
  private var events: Broadcaster<Data> {
    told.scan(Data()) { $0.isEmpty ? $1.whole : $1.change }
  }

  private func past(_ number: Substring) -> Reply {
    guard let past = try? Int(number).flatMap(session.past) else { return .status(.notFound) }
    let changes = past.changes.mapValues { FlatValue.string("\($0)") }
    let members = "\"board\":\(json(past.board.values)),\"changes\":\(json(changes))"
    return .content("application/json", Data("{\(members)}".utf8))
  }

  /// Does what a line on the terminal does.
  private func obey(_ body: Data) async -> Reply {
    guard let text = String(data: body, encoding: .utf8) else { return .status(.badRequest) }
    return switch await session.obey(text.trimmingCharacters(in: .newlines)) {
    case .done: .status(.noContent)
    case .text(let text): plain(text)
    case .refused(let advice): .status(.badRequest, because: advice)
    case .quit: .status(.badRequest, because: "Whoever has started the program ends it.")
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
