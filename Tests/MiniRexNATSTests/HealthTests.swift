#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct HealthTests {
  @Test func `N14 health and counters are available`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(20), .milliseconds(1))
    let (nats, other) = (NATSConnection(server.url, options: options), NATSConnection(server.url))
    await nats.isEventually(.connected)
    await until { nats.isReady.current() == true }
    let numbers = Recorder(nats.broadcaster(of: String.self, on: "numbers"))
    try await nats.areSubscribed()
    let before = nats.statistics

    for _ in 1...3 { try nats.publish("12345", on: "elsewhere") }
    for _ in 1...2 { try other.publish("1234567", on: "numbers") }
    _ = await numbers.next(2)
    let after = nats.statistics
    #expect(after.messagesOut - before.messagesOut == 3)
    #expect(after.bytesOut - before.bytesOut == 15)
    #expect(after.messagesIn - before.messagesIn == 2)
    #expect(after.bytesIn - before.bytesIn == 14)
    #expect(after.reconnects == 0 && after.dropped == 0)
    await until { nats.statistics.roundTripTime.map { $0 > .zero } ?? false }

    await server.stop()
    await until { nats.isReady.current() == false }
    try nats.publish(Data(count: 1_000), on: "elsewhere")
    #expect(nats.statistics.queuedBytes >= 1_000)
    try await server.start()
    await until { nats.isReady.current() == true }
    let again = nats.statistics
    #expect(again.reconnects == 1)
    #expect(again.messagesIn >= after.messagesIn && again.bytesOut >= after.bytesOut + 1_000)

    await nats.close()
    #expect(nats.isReady.current() == false)
    #expect(nats.statistics.messagesOut >= again.messagesOut)
    await other.close()
  }

  @Test func `N14 dropped messages are counted`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.receiveLimit = 10
    let (nats, other) = (NATSConnection(server.url, options: options), NATSConnection(server.url))
    let (mayGo, hasCome) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slow = nats.broadcaster(of: Int.self, on: "numbers").subscribe { _ in
      hasCome.signal()
      mayGo.waitAtMost()
    }
    try await nats.areSubscribed()

    for number in 1...100 { try other.publish(number, on: "numbers") }
    await hasCome.isSignalled()
    await until { nats.statistics.dropped > 0 }
    // The rest arrives while the callback is blocked.
    await until { nats.statistics.messagesIn >= 100 }
    for _ in 1...100 { mayGo.signal() }

    // The callback after the drops reports the rest.
    await until { nats.statistics.dropped >= 80 }
    withExtendedLifetime(slow) {}
    await nats.close()
    await other.close()
  }
}
#endif
