#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct HeaderTests {
  typealias Field = NATSHeaders.Field

  /// The header block, the parsed fields, and whether a problem is reported.
  private static let blocks: [(String, [(String, String)], Bool)] = [
    ("NATS/1.0\r\nX-Empty:\r\nTrace: 1\r\n\r\n", [("X-Empty", ""), ("Trace", "1")], false),
    ("NATS/1.0\r\nTrace: 1\r\nX-Empty:\r\n\r\n", [("Trace", "1"), ("X-Empty", "")], false),
    ("NATS/1.0\r\nX-Empty: \t \r\n\r\n", [("X-Empty", "")], false),
    ("NATS/1.0\r\nA:b\r\nA: c \r\na:\td\r\n\r\n", [("A", "b"), ("A", "c"), ("a", "d")], false),
    ("NATS/1.0\r\nUrl: http://a:b\r\n\r\n", [("Url", "http://a:b")], false),
    ("NATS/1.0\r\nLong: a\r\n b\r\n\tc\r\nB: d\r\n\r\n", [("Long", "a b c"), ("B", "d")], false),
    ("NATS/1.0\r\n\r\n", [], false),
    ("NATS/1.0 404 Not here\r\n\r\n", [("Status", "404"), ("Description", "Not here")], false),
    ("NATS/1.0\r\nnothing\r\nA: b\r\n\r\n", [("A", "b")], true),
    ("NATS/1.0\r\n: b\r\nA: b\r\n\r\n", [("A", "b")], true),
    ("NATS/1.0\r\nA b: c\r\nA: b\r\n\r\n", [("A", "b")], true),
    ("NATS/1.0\r\nA: b\r\n", [("A", "b")], true),
    ("NATS/1.0\r\nA: b", [("A", "b")], true),
    ("HTTP/1.1\r\nA: b\r\n\r\n", [("A", "b")], true),
    ("NATS/1.0\r\nA: b\r\n\r\nmore", [("A", "b")], true),
    ("x", [], true),
  ]

  @Test(arguments: blocks.indices)
  func `N9 headers are parsed by the specification, and the payload is kept`(_ index: Int)
    async throws
  {
    let (block, fields, isReported) = Self.blocks[index]
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    for replies in ["", " reply"] {
      let recorder = Recorder(nats.broadcaster(of: String.self, on: "headers"))
      try await nats.areSubscribed()
      let client = try RawClient(to: server.address)
      client.publish("payload", on: "headers" + replies, headers: block)

      let message = try #require(await recorder.next().first)

      #expect(message.payload == "payload")
      #expect(message.headers.fields == fields.map { Field(name: $0, value: $1) })
      if isReported {
        let diagnostic = await diagnostics.next().first
        guard case .unreadableHeaders("headers", _)? = diagnostic else {
          Issue.record("\(diagnostic as Any)")
          continue
        }
      }
    }
    if !isReported { #expect(diagnostics.updates.isEmpty) }
    await nats.close()
  }

  @Test func `N8 a job is not rejected because of its headers`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let client = try RawClient(to: server.address)
    client.publish("1", on: "jobs", headers: "NATS/1.0\r\nX-Empty:\r\n\r\n")
    client.publish("2", on: "jobs", headers: "NATS/1.0\r\nnothing\r\n\r\n")
    client.publish("3", on: "jobs", headers: "what")

    let jobs = Recorder(stream.work(of: Int.self, durable: "work"))
    let events = Recorder(stream.broadcaster(of: Int.self, from: .beginning))

    #expect(await jobs.next(3).map(\.payload) == [1, 2, 3])
    #expect(await events.next(3).map(\.payload) == [1, 2, 3])
    await nats.close()
  }

  @Test func `N9 random header bytes never lose a payload`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "headers"))
    try await nats.areSubscribed()
    let client = try RawClient(to: server.address)
    let pieces =
      [
        "NATS/1.0", "\r\n", "\r", "\n", ":", " ", "\t", "A", "Trace: 1", "\r\n\r\n", "\0", "503",
        "é",
      ].map { Array($0.utf8) } + [[0xFF], [0xC3]]
    let count = scaled(10_000)

    for number in 0..<count {
      var block: [UInt8] = Bool.random() ? Array("NATS/1.0\r\n".utf8) : []
      for _ in 0..<Int.random(in: 1...12) { block += pieces.randomElement() ?? [] }
      client.publish("\(number)", on: "headers", headers: block)
    }

    #expect(await recorder.next(count).map(\.payload) == Array(0..<count))
    await nats.close()
  }
}
#endif
