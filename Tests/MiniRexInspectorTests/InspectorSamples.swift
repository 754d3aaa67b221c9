import Foundation
import MiniRex
import MiniRexInspector
import MiniRexStore
import TestSupport
import Testing

/// The samples of the documentation, in a separate process, because they observe the entire
/// program.
@Suite(.light) struct InspectorSamples {
  @Test func `an inspector shows a program`() async {
    await #expect(processExitsWith: .success) {
      let graph = LiveGraph()
      setDefaultInstrument(graph)
      let board = Store(Board(), name: "board", reducer: reduce)
      let inspector = try Inspector(of: graph)
      inspector.watch(board)
      print("Look at \(inspector.url)")

      board.send("first")
      precondition(inspector.url.absoluteString == "http://127.0.0.1:\(inspector.port)/")
      precondition(graph.tree().contains("board"))
    }
  }

  @Test func `metrics have values of the program`() async throws {
    let inspector = try Inspector(of: LiveGraph())
    let uploads = Uploads()

    inspector.measure("uploads") {
      [InspectorMetric("waiting_uploads", help: "Uploads that wait.", value: uploads.waitingCount)]
    }

    let line = #"waiting_uploads{name="uploads"} 3"#
    #expect(try await get(inspector.port, "/metrics").hasSuffix("\(line)\n"))
  }

  @Test func `health has conditions`() async throws {
    let inspector = try Inspector(of: LiveGraph())
    let database = Database()
    let usage = PublishedProperty(90)
    let disk = usage.publisher

    inspector.ready(when: database.isConnected, name: "database")
    inspector.live(when: disk.map { $0 < 95 }, name: "disk")

    #expect(try await get(inspector.port, "/ready").hasPrefix("HTTP/1.1 200 "))
    usage.value = 99
    #expect(try await get(inspector.port, "/live").hasSuffix("not live: disk\n"))
  }
}

private struct Uploads: Sendable { let waitingCount = 3.0 }

private struct Database {
  private let connection = PublishedProperty(true)
  var isConnected: PublishedValue<Bool> { connection.publisher }
}

private struct Board: Encodable, Sendable { var cards: [String] = [] }

private func reduce(_ board: inout Board, _ card: String) -> Effect<String> {
  board.cards.append(card)
  return .none
}
