#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// A server that limits the subscriptions of a connection.
@Suite(.heavy)
struct SubscriptionLimitTests {
  @Test(arguments: [11, 40])
  func `N4 a connection reconnects after one subscription too many, and keeps the oldest`(
    _ count: Int
  )
    async throws
  {
    let server = try await NATSServer("max_subscriptions: 10")
    let nats = NATSConnection(server.url)
    let (status, diagnostics) = (Recorder(nats.status), Recorder(nats.diagnostics))
    let first = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    try nats.publish(0, on: "numbers")
    _ = await first.next()

    let others = (1..<count).map { Recorder(nats.broadcaster(of: Int.self, on: "other.\($0)")) }

    await until {
      diagnostics.updates.contains {
        if case .notSubscribed(_, .tooManySubscriptions) = $0 { true } else { false }
      }
    }
    // The limit is learned in steps, each over another connection.
    var connected = 0
    await until(patience: 10) {
      let before = connected
      try? await Task.sleep(for: .seconds(2))
      connected = status.updates.count { $0 == .connected }
      return connected == before
    }
    await nats.makesRoundTrip(to: first)
    #expect(!refused(diagnostics).contains("numbers"))
    #expect(!status.updates.contains { if case .closed = $0 { true } else { false } })
    withExtendedLifetime(others) {}
    await nats.close()
  }

  /// The threads of libnats cancel the subscriptions while another thread reports the error.
  @Test func `N4 one subscription too many never refuses the oldest`() async throws {
    let server = try await NATSServer("max_subscriptions: 10")
    var options = NATSOptions()
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(1), .zero)
    for _ in 0..<scaled(60) {
      let nats = NATSConnection(server.url, options: options)
      let diagnostics = Recorder(nats.diagnostics)
      let first = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
      await nats.isEventually(.connected)
      let others = (1..<11).map { Recorder(nats.broadcaster(of: Int.self, on: "other.\($0)")) }
      await until { !refused(diagnostics).isEmpty }

      await until {
        try? nats.publish(-1, on: "numbers")
        return !first.updates.isEmpty || refused(diagnostics).contains("numbers")
      }

      #expect(!refused(diagnostics).contains("numbers"))
      withExtendedLifetime(others) {}
      await nats.close()
    }
  }

  @Test func `N4 a subscription that returns last takes the place of the newest`() async throws {
    let server = try await NATSServer("max_subscriptions: 10")
    var options = NATSOptions()
    options.usesDedicatedThreads = true
    let nats = NATSConnection(server.url, options: options)
    let diagnostics = Recorder(nats.diagnostics)
    let (isBlocked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let numbers = Shared<[Int]>([])
    let first = nats.broadcaster(of: Int.self, on: "numbers").subscribe { message in
      numbers.append(message.payload)
      if message.payload != 0 { return }
      isBlocked.signal()
      gate.waitAtMost()
    }
    await nats.isEventually(.connected)
    try nats.publish(0, on: "numbers")
    await isBlocked.isSignalled()
    let others = (1..<11).map { Recorder(nats.broadcaster(of: Int.self, on: "other.\($0)")) }
    await until(refused(diagnostics)) { $0 == ["other.10"] }

    gate.signal()

    await until(refused(diagnostics)) { $0.count == 2 }
    #expect(refused(diagnostics) == ["other.10", "other.9"])
    await until(numbers.value) { numbers in
      try? nats.publish(-1, on: "numbers")
      return numbers.count > 1
    }
    await until(others.map(\.hasEnded)) { $0 == others.indices.map { $0 >= 8 } }
    withExtendedLifetime(first) {}
    await nats.close()
  }

  /// The subjects of the subscriptions beyond the limit of the server.
  private func refused(_ diagnostics: Recorder<NATSDiagnostic>) -> [String] {
    diagnostics.updates.compactMap {
      if case .notSubscribed(let subject, .tooManySubscriptions) = $0 { subject } else { nil }
    }
  }
}
#endif
