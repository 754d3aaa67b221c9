import Foundation
import MiniRexStore
import TestSupport

/// A page without a screen: it gets the board, then what changes, and comes back when it has to.
final class Page: Sendable {
  fileprivate struct State {
    var values: [String: FlatValue] = [:]
    var browser: Browser?
    var isOpen = true
    var visits = 0
  }

  private let state = Shared(State())

  init(_ port: UInt16) {
    onNewThread { [state] in
      while let browser = try? Browser(port) {
        let isOpen = state.change { state in
          state.browser = browser
          return state.isOpen
        }
        if !isOpen { return }
        browser.say("GET /events HTTP/1.1\r\n\r\n")
        var rest = Data()
        while let more = browser.hear() {
          rest += more
          while let end = rest.range(of: Data("\n\n".utf8)) {
            let event = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            rest.removeSubrange(..<end.upperBound)
            state.change { $0.take(event.components(separatedBy: "\n")) }
          }
        }
      }
    }
  }

  /// The cards by path.
  var cards: String { text(state.value.values) }

  /// How often it has begun with the whole board.
  var visits: Int { state.value.visits }

  /// As when the network is lost for a moment.
  func interrupt() { state.value.browser?.leave() }

  func close() {
    state.change { $0.isOpen = false }
    interrupt()
  }
}

extension Page.State {
  fileprivate mutating func take(_ lines: [String]) {
    guard let line = lines.last(where: { $0.hasPrefix("data: ") }),
      let changes = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8))
    else { return }
    if lines.contains("event: board") {
      values = [:]
      visits += 1
    }
    for (path, value) in changes as? [String: Any] ?? [:] {
      let text = (value as? String).map { FlatValue.string($0) }
      values[path] = text ?? (value as? Int).map { .int(Int64($0)) }
    }
  }
}

/// The cards alone, in the order of their paths.
func text(_ values: [String: FlatValue]) -> String {
  values.filter { $0.key.contains("/") }.sorted { $0.key < $1.key }
    .map { "\($0.key): \($0.value)" }.joined(separator: ", ")
}
