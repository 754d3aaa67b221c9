#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// The input of strangers, and a stranger's client of the package.
@Suite(.heavy)
struct StrangersTests {
  /// Once is enough, because the build needs no server and no sanitizer.
  private static let isRepeated =
    ProcessInfo.processInfo.environment["MINIREX_NATS_SERVER"] != nil || scale < 1

  @Test(.enabled(if: !isRepeated))
  func `P2 a stranger builds the bridge by URL from a folder named nats`() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let script = root.appending(path: "Scripts/check-package").path
    let child = try Child(["-c", #"exec "$0" nats 2>&1"#, script], path: "/bin/sh")
    let lines = await child.output.rest(patience: 60 * patience)
    #expect(await child.status() == 0, "\(lines.suffix(20).joined(separator: "\n"))")
  }

  @Test(arguments: [
    "", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0\r\n", "*", "a.*", ">", "a.>",
    "a\u{0}b",
  ])
  func `N9 publishing to an invalid subject or a wildcard fails`(
    _ subject: String
  ) async throws {
    let nats = NATSConnection(try Address().url)
    #expect(throws: NATSError.invalidSubject(subject)) { try nats.publish(1, on: subject) }
  }

  @Test(arguments: ["", ".", "a.", "a..b", "a b", "a.>.b", "a\r\nb"])
  func `N9 subscribing to an invalid subject is reported`(_ subject: String) async throws {
    let nats = NATSConnection(try Address().url)
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: subject))

    let wanted = NATSDiagnostic.notSubscribed(subject: subject, .invalidSubject(subject))
    // The diagnostic about the missing server may come first.
    await until { diagnostics.updates.contains(wanted) }
    #expect(diagnostics.updates.contains(wanted))
    #expect(!recorder.isSubscribed)
  }

  @Test(arguments: ["a\r\nb", "", "a:b", "a b", "ä"])
  func `N9 a header with a line break is refused`(_ name: String) async throws {
    let nats = NATSConnection(try Address().url)
    #expect(throws: NATSError.invalidHeader(name)) {
      try nats.publish(1, on: "a", headers: [name: "value"])
    }
    #expect(throws: NATSError.invalidHeader("A")) {
      try nats.publish(1, on: "a", headers: ["A": "b\r\nC: d"])
    }
  }

  @Test func `N9 publishing a payload beyond the server's limit fails`()
    async throws
  {
    let server = try await NATSServer("max_payload: 1000")
    let nats = NATSConnection(server.url)
    let recorder = Recorder(nats.broadcaster(of: Data.self, on: "numbers"))
    let diagnostics = Recorder(nats.diagnostics)
    try nats.publish(Data(count: 2_000), on: "early")
    await nats.isEventually(.connected)

    #expect(await diagnostics.next() == [.notSent(subject: "early", .payloadTooLarge(1_000))])
    #expect(throws: NATSError.payloadTooLarge(1_000)) {
      try nats.publish(Data(count: 1_001), on: "numbers")
    }

    try nats.publish(Data(count: 1_000), on: "numbers")
    #expect(await recorder.next().first?.payload.count == 1_000)
    await nats.close()
  }

  @Test func `N9 an undecodable payload is reported and skipped`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let numbers = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    let texts = Recorder(nats.broadcaster(of: String.self, on: "texts"))

    try nats.publish("no number", on: "numbers")
    try nats.publish(Data([0xFF, 0xFE]), on: "texts")
    try nats.publish(7, on: "numbers")
    try nats.publish("text", on: "texts")

    #expect(await numbers.next().first?.payload == 7)
    #expect(await texts.next().first?.payload == "text")
    let subjects = await diagnostics.next(2).map { trouble in
      if case .undecodable(let subject, _) = trouble { subject } else { "" }
    }
    #expect(Set(subjects) == ["numbers", "texts"])
    await nats.close()
  }

  @Test func `N9 a wrong password closes the connection after two attempts, and appears nowhere`()
    async throws
  {
    let server = try await NATSServer("authorization { user: alice, password: correct }")
    var options = NATSOptions()
    options.credentials = .user("alice", password: "hunter2")
    let wrong = NATSConnection(server.url, options: options)
    let diagnostics = Recorder(wrong.diagnostics)
    let inURL = NATSConnection("nats://alice:hunter2@\(server.address.host):\(server.address.port)")

    let status = await wrong.status.firstResult { status in
      if case .closed = status { status } else { nil }
    }
    #expect(status == .closed(.notAuthorized))
    _ = await inURL.status.firstResult { $0 == .closed(.notAuthorized) ? true : nil }
    #expect(throws: NATSError.closed) { try wrong.publish(1, on: "a") }
    #expect(server.log.split(separator: "\n").count { $0.contains("authentication error") } <= 4)
    for text in ["\(options)", "\(wrong)", "\(diagnostics.updates)", String(reflecting: options)] {
      #expect(!text.contains("hunter2"))
    }
    var dumped = ""
    dump(options, to: &dumped)
    dump(inURL, to: &dumped)
    #expect(!dumped.contains("hunter2"))

    options.credentials = .user("alice", password: "correct")
    let right = NATSConnection(server.url, options: options)
    #expect(await right.isEventually(.connected))
    await right.close()
  }

  @Test func `N9 the server accepts a token, and rejects a wrong token`() async throws {
    let server = try await NATSServer("authorization { token: sesame }")
    var options = NATSOptions()
    options.credentials = .token("sesame")
    let right = NATSConnection(server.url, options: options)
    #expect(await right.isEventually(.connected))
    options.credentials = .token("simsim")
    let wrong = NATSConnection(server.url, options: options)
    #expect(await wrong.isEventually(.closed(.notAuthorized)))
    await right.close()
  }

  @Test func `N9 a refused permission is reported for its subject, and other subjects continue`()
    async throws
  {
    let server = try await NATSServer(
      """
      authorization { users: [ { user: a, password: b, permissions: {
        publish: { deny: "secret.write" }, subscribe: { deny: "secret.read" } } } ] }
      """)
    var options = NATSOptions()
    options.credentials = .user("a", password: "b")
    let nats = NATSConnection(server.url, options: options)
    let diagnostics = Recorder(nats.diagnostics)
    let denied = Recorder(nats.broadcaster(of: Int.self, on: "secret.read"))
    let allowed = Recorder(nats.broadcaster(of: Int.self, on: "open"))

    try nats.publish(1, on: "secret.write")
    try nats.publish(2, on: "open")

    #expect(await allowed.next().first?.payload == 2)
    let subjects = await diagnostics.next(2).map { trouble in
      if case .notPermitted(let subject, _) = trouble { subject } else { "\(trouble)" }
    }
    #expect(Set(subjects) == ["secret.read", "secret.write"])
    #expect(denied.updates.isEmpty)
    await nats.close()
  }

  @Test func `N9 attempts to reach a server end at the limit`() async throws {
    var options = NATSOptions()
    options.reconnectAttempts = 2
    options.reconnectWait = .milliseconds(10)
    options.reconnectJitter = .zero
    let nats = NATSConnection(try Address().url, options: options)

    #expect(await nats.isEventually(.closed(.noServer)))
  }

  @Test func `N9 an invalid URL closes the connection`() async throws {
    let nats = NATSConnection("nats://alice:hunter2@127.0.0.1:what")
    let status = await nats.status.firstResult { status in
      if case .closed = status { status } else { nil }
    }
    #expect(status != .closed(nil))
    #expect(!"\(status as Any)".contains("hunter2"))
  }
}
#endif
