#if NATS
import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexNATS

/// Connections that are closed while a subscription begins.
@Suite(.heavy)
struct ClosedSubscriptionTests {
  /// libnats reports no last callback if it is requested too late.
  @Test func `N5 a connection that closes before the end is observed loses no end`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.drainTimeout = .milliseconds(1)
    let (nats, other) = (NATSConnection(server.url, options: options), NATSConnection(server.url))
    await nats.isEventually(.connected)
    let (calls, isReleased) = (Shared(0), Shared(false))
    let handle = try #require(nats.core.state.withLock { $0.handle })
    let subscription = ServerSubscription(isEssential: false)
    var handler: MessageHandler? = MessageHandler(
      "numbers", queue: nil, subscription, over: nats.core
    ) { [witness = Witness { isReleased.value = true }] _ in
      witness.touch()
      calls.increment()
    }

    let started = try #require(handler).start(over: handle)
    try await nats.areSubscribed()
    try other.publish(1, on: "numbers")
    try await other.areSubscribed()
    await nats.close()
    #expect(handler?.observe(started, options) == false)
    var next = handler?.giveUp()
    handler = nil

    #expect(next != nil && !isReleased.value)
    next = nil
    #expect(isReleased.value && calls.value == 0)
    await other.close()
  }

  /// libnats may have reported the last callback before the subscription counts as running.
  @Test func `N4 each subscription returns after a connection that closes while it begins`()
    async throws
  {
    var options = NATSOptions()
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(1), .zero)
    for round in 0..<scaled(60) {
      let server = try HostileServer(closesAfter: 1 + round % 150)
      let nats = NATSConnection(server.address.url, options: options)
      await nats.isEventually(.connected)
      let recorders = (0..<200).map { number in
        Recorder(nats.broadcaster(of: String.self, on: "numbers.\(number)"))
      }
      await until(recorders.count { $0.updates.isEmpty }) { missing in
        server.send("a")
        return missing == 0
      }
      await nats.close()
      await until { recorders.allSatisfy(\.hasEnded) }
    }
  }
}
#endif
