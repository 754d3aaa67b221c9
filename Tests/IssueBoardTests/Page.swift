import Foundation
import MiniRexStore
import TestSupport

/// A page that stores the board and its changes, and reconnects after an interruption.
final class Page: Sendable {
  fileprivate struct State {
    var values: [String: FlatValue] = [:]
    var client: HTTPClient?
    var isOpen = true
    var visits = 0
  }

  private let state = Shared(State())

  init(_ port: UInt16) {
    onNewThread { [state] in
      while let client = try? HTTPClient(port) {
        let isOpen = state.change { state in
          state.client = client
          return state.isOpen
        }
        if !isOpen { return }
        client.forEachEvent { lines in state.change { $0.take(lines) } }
      }
    }
  }

  /// The cards by path.
  var cards: String { text(state.value.values) }

  /// The number of connections.
  var visits: Int { state.value.visits }

  /// Simulates a short loss of the network.
  func interrupt() { state.value.client?.cancel() }

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

/// Returns the cards, sorted by path.
func text(_ values: [String: FlatValue]) -> String {
  values.filter { $0.key.contains("/") }.sorted { $0.key < $1.key }
    .map { "\($0.key): \($0.value)" }.joined(separator: ", ")
}
