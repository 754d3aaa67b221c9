#if NATS
import Foundation
import MiniRexFleet
import MiniRexNATS
import TestSupport

/// A browser that shows the page of a fleet.
final class FleetBrowser: Sendable {
  struct Row: Decodable, Sendable {
    let id: String
    let concern: Int
    /// The time since the last report in milliseconds.
    let silence: Int
    let restarts: Int?
    let isOtherVersion: Bool?
    let differences: [String]?
    let report: Report
  }

  struct Report: Decodable, Sendable {
    struct Trouble: Decodable, Sendable {
      let text: String
      let time: Int
    }

    struct Replica: Decodable, Sendable {
      let name: String
      let phase: String
      let sequence: Int
      let pending: Int
      let snapshot: Int?
    }

    struct Subscription: Decodable, Sendable {
      let name: String
      let place: String?
      let rate: Double
      let backlog: Int
      let drops: Int
    }

    let name: String
    let version: String
    let host: String
    let process: Int32
    let started: Int
    let isInspected: Bool
    let unready: [String]
    let memory: Int
    let processor: Double
    let trouble: Trouble?
    let replicas: [Replica]
    let subscriptions: [Subscription]
  }

  private struct Event: Decodable {
    let answers: Bool
    let removed: [String]
    let rows: [Row]
  }

  private struct State: Sendable {
    var answers = false
    var rows: [String: Row] = [:]
    var eventCount = 0
    /// Every concern that a row had, by its identifier.
    var concerns: [String: Set<Int>] = [:]
  }

  private let state = Shared(State())
  private let client: HTTPClient
  let page: FleetPage

  convenience init(of fleet: String, over nats: NATSConnection) throws {
    try self.init(FleetPage(of: fleet, over: nats))
  }

  init(_ page: FleetPage) throws {
    self.page = page
    client = try HTTPClient(page.port)
    let (state, client) = (state, client)
    onNewThread {
      client.forEachEvent { lines in
        guard let text = lines.first(where: { $0.hasPrefix("data: ") }),
          let event = try? JSONDecoder().decode(Event.self, from: Data(text.dropFirst(6).utf8))
        else { return }
        state.change { state in
          if lines.contains("event: all") { state.rows = [:] }
          for id in event.removed { state.rows[id] = nil }
          for row in event.rows {
            state.rows[row.id] = row
            state.concerns[row.id, default: []].insert(row.concern)
          }
          state.answers = event.answers
          state.eventCount += 1
        }
      }
    }
  }

  deinit { client.cancel() }

  var answers: Bool { state.value.answers }

  var eventCount: Int { state.value.eventCount }

  var rows: [Row] { state.value.rows.values.sorted { $0.id < $1.id } }

  func row(_ name: String) -> Row? { rows.first { $0.report.name == name } }

  func concerns(of id: String) -> Set<Int> { state.value.concerns[id] ?? [] }
}
#endif
