#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Connections that are lost in the middle of a message.
@Suite(.heavy)
struct HalfMessageTests {
  @Test(arguments: [
    "M", "MSG halv", "MSG halves ", " 22", " 22\r", " 22\r\n", "first-half-", "second-half",
    "second-half\r",
  ])
  func `N4 half a message of a lost connection is never completed by the next`(
    _ last: String
  ) async throws {
    let server = try await NATSServer()
    let proxy = try Proxy(to: server.address)
    let (nats, other) = (NATSConnection(proxy.url), NATSConnection(server.url))
    let (diagnostics, status) = (Recorder(nats.diagnostics), Recorder(nats.status))
    let half = "first-half-second-half"
    // The last message lacks only the end of its line.
    let recorder = Recorder(
      nats.broadcaster(of: String.self, on: "halves").filter { $0.payload != half })
    try await nats.areSubscribed()
    try other.publish("whole", on: "halves")
    #expect(await recorder.next().map(\.payload) == ["whole"])

    for round in 0..<3 {
      proxy.cut(after: last)
      try other.publish(half, on: "halves")
      await until { status.updates.count { $0 == .connected } == round + 2 }
      try await nats.areSubscribed()
      let wanted = (0..<100).map { "\(round): \($0)" }
      for text in wanted { try other.publish(text, on: "halves") }

      #expect(await recorder.next(100).map(\.payload) == wanted)
    }

    // A message of the bridge may be unconfirmed when the connection is cut.
    #expect(
      diagnostics.updates.allSatisfy { if case .possiblyLost = $0 { true } else { false } })
    await nats.close()
    await other.close()
  }

  @Test func `N8 a stream has no gap after half a message is lost`() async throws {
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (nats, other) = (NATSConnection(proxy.url), NATSConnection(server.url))
    let log = other.stream("board")
    #expect(await log.create().hasSucceeded())
    for number in 0..<300 {
      #expect(await log.append("begin-\(number)-end").hasSucceeded())
    }
    proxy.cut(after: "begin-150")

    let recorder = Recorder(nats.stream("board").broadcaster(of: String.self, from: .beginning))

    let wanted = (0..<300).map { "begin-\($0)-end" }
    #expect(await recorder.next(300).map(\.payload) == wanted)
    #expect(!proxy.isGoingToCut)
    await nats.close()
    await other.close()
  }

  @Test
  func `N4 messages received before a loss come first and delay no other answers`()
    async throws
  {
    let server = try await NATSServer()
    let proxy = try Proxy(to: server.address)
    var options = NATSOptions()
    options.usesDedicatedThreads = true
    let (nats, other) = (
      NATSConnection(proxy.url, options: options), NATSConnection(server.url)
    )
    let service = other.reply(on: "half") { (number: Int) in
      PublishedTask<Int, NATSError>.success(number / 2)
    }
    let (mayGo, hasCome) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    @Sendable func block(_ number: Int) {
      if number != 0 { return }
      hasCome.signal()
      mayGo.waitAtMost()
    }
    let (status, recorder) = (
      Recorder(nats.status),
      Recorder(nats.broadcaster(of: Int.self, on: "numbers")) { block($0.payload) }
    )
    try await other.areSubscribed()
    try await nats.areSubscribed()
    for number in 0..<100 { try other.publish(number, on: "numbers") }
    let first = nats.request(Int.self, 0, on: "half", timeout: .seconds(300)).subscribe { _ in
      block(0)
    }
    await hasCome.isSignalled(2)
    try await nats.areSubscribed()

    proxy.cut()
    proxy.mend()
    await until { status.updates.count { $0 == .connected } == 2 }
    #expect(
      await nats.request(Int.self, 8, on: "half", timeout: .seconds(300)).result == .success(4))
    for _ in 0..<2 { mayGo.signal() }
    var number = 100
    while recorder.updates.count <= 100, !Task.isCancelled {
      try other.publish(number, on: "numbers")
      number += 1
      try await Task.sleep(for: .milliseconds(10))
    }

    let numbers = recorder.updates.map(\.payload)
    #expect(Array(numbers.prefix(100)) == Array(0..<100))
    #expect(numbers == numbers.sorted())
    withExtendedLifetime((service, first)) {}
    await nats.close()
    await other.close()
  }
}
#endif
