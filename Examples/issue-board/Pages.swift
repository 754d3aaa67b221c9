import Foundation
import MiniRex
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore

/// Serves the board to browsers.
struct Pages: Sendable {
  private let session: Session
  private let events: Events

  init(_ session: Session) {
    self.session = session
    events = Events(session)
  }

  func answer(_ request: Request) async -> Reply {
    switch (request.method, request.path) {
    case ("GET", "/"): .page(Data(PackageResources.page_html))
    case ("GET", "/favicon.ico"): .status(.noContent)
    case ("GET", "/cards"): content(json(session.store.state.cards))
    case ("GET", "/commits"): session.lastCommit.map { plain("\($0)") } ?? .status(.notFound)
    case ("GET", let path) where path.hasPrefix("/commits/"): past(path.dropFirst(9), request.query)
    case ("GET", "/journal"): session.journalStatus.map { plain($0.text) } ?? .status(.notFound)
    // Each event builds on the previous event, so a browser that missed an event starts again.
    case ("GET", "/events"): .events(events.stream(view(request.query)), .beginsAnew)
    case ("POST", "/"): await obey(request.body)
    case ("POST", let path) where path.hasPrefix("/view/"): show(path.dropFirst(6), request.query)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }

  private func show(_ id: Substring, _ query: String?) -> Reply {
    guard let browser = events[String(id)] else { return .status(.notFound) }
    browser.value = view(query)
    return .status(.noContent)
  }

  /// Parses `search=TEXT&order=NAME`.
  private func view(_ query: String?) -> View {
    // Browsers send a space as a plus sign.
    let query = query?.replacing("+", with: "%20") ?? ""
    let items = URLComponents(string: "?\(query)")?.queryItems ?? []
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
    return View(
      search: value("search") ?? "", order: value("order").flatMap(View.Order.init) ?? .newest)
  }

  private func past(_ number: Substring, _ query: String?) -> Reply {
    let step = query == "toward=later" ? 1 : query == "toward=earlier" ? -1 : 0
    guard let past = try? Int(number).flatMap({ try session.past($0, toward: step) })
    else { return .status(.notFound) }
    let changes = json(past.changes.mapValues { FlatValue.string("\($0)") })
    let board = json(past.board.values)
    let second = past.second.map { "\"second\":\($0)," } ?? ""
    return content(
      "{\"number\":\(past.number),\(second)\"changes\":\(changes),\"board\":\(board)}")
  }

  /// Executes a command, as a line on the terminal does.
  private func obey(_ body: Data) async -> Reply {
    guard let text = String(data: body, encoding: .utf8) else { return .status(.badRequest) }
    return switch await session.obey(text.trimmingCharacters(in: .newlines)) {
    case .done: .status(.noContent)
    case .added(let card): content("\(card.json)\n")
    case .text(let text): plain(text)
    case .refused(let advice): .status(.badRequest, because: advice)
    case .quit: .status(.badRequest, because: "Only the terminal accepts quit.")
    }
  }
}

private func plain(_ text: String) -> Reply {
  .content("text/plain; charset=utf-8", Data(text.utf8))
}

private func content(_ json: String) -> Reply { .content("application/json", Data(json.utf8)) }

private func json(_ values: [String: FlatValue]) -> String {
  let members = values.sorted { $0.key < $1.key }.map { "\(FlatValue.string($0.key)):\($0.value)" }
  return "{\(members.joined(separator: ","))}"
}

extension JournalStatus {
  /// The values as of the last synchronization, in lines for a monitor.
  fileprivate var text: String {
    let compaction =
      if case .failed(let failure) = compaction { "\(failure)" } else { "\(compaction)" }
    return """
      first \(firstNumber)
      last \(lastNumber)
      durable \(durableNumber)
      bytes \(fileBytes)
      closed-files \(segments)
      closed-bytes \(segmentBytes)
      compaction \(compaction)

      """
  }
}
