import Foundation
import TestSupport
import Testing

/// A connection to the board, with decoded events.
final class EventClient {
  /// The response, line by line.
  var output = Output(nil)

  private let client: HTTPClient

  /// - Parameter readsOutput: `false` for a client with a small receive buffer that reads nothing before
  ///   `beginReading`.
  init(port: UInt16, _ request: String, readsOutput: Bool = true) throws {
    client = try HTTPClient(port, receiveBuffer: readsOutput ? nil : 4_096)
    client.send(request)
    if readsOutput { beginReading() }
  }

  deinit { cancel() }

  func cancel() { client.cancel() }

  func write(_ text: String) { client.send(text) }

  func beginReading() { output = Output(client) }

  /// Returns the next event with the given number of browsers.
  func event(browsers: Int) async throws -> Event {
    while true {
      let event = try await event()
      if event.browsers == browsers { return event }
    }
  }

  /// Returns the next event that contains the text.
  func event(_ text: String = "data:") async throws -> Event {
    let line = await output.until(text).last { $0.hasPrefix("data: ") } ?? ""
    return try JSONDecoder().decode(Event.self, from: Data(line.dropFirst(6).utf8))
  }
}

/// The data of a page.
struct Event: Decodable {
  struct Sample: Decodable, Equatable {
    struct Memory: Decodable, Equatable { let used, total: Int }

    let load: [Double]
    let memory: Memory?
    let changes: Int
  }
  struct Changes: Decodable {
    struct Change: Decodable {
      let kind: String
      let name: String?
    }

    let count: Int
    let newestFirst: [Change]
    let isWatched: Bool
  }

  let browsers: Int
  let samples: [Sample]
  let changes: Changes
}
