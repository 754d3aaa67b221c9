#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct BoundsTests {
  @Test func `N3 messages beyond the limit of a slow subscriber are dropped and reported`()
    async throws
  {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.receiveLimit = 10
    // A blocked callback delays the subscriptions on its thread.
    options.usesDedicatedThreads = true
    let nats = NATSConnection(server.url, options: options)
    let sender = NATSConnection(server.url)
    let (mayGo, hasCome) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let diagnostics = Recorder(nats.diagnostics)
    let slow = Recorder(nats.broadcaster(of: Int.self, on: "numbers")) { message in
      if message.payload == 0 {
        hasCome.signal()
        mayGo.waitAtMost()
      }
    }
    let fast = Recorder(sender.broadcaster(of: Int.self, on: "numbers"))
    try await nats.areSubscribed()
    try await sender.areSubscribed()

    try sender.publish(0, on: "numbers")
    await hasCome.isSignalled()
    for number in 1...11 { try sender.publish(number, on: "numbers") }
    #expect(await diagnostics.next() == [.dropped(subject: "numbers", count: 1, total: 1)])
    for number in 12...100 { try sender.publish(number, on: "numbers") }
    _ = await fast.next(101)
    // The reply follows all messages to the other connection, which has dropped them by then.
    try await nats.areSubscribed()
    mayGo.signal()
    #expect(await slow.next(11).map(\.payload) == Array(0...10))
    try sender.publish(101, on: "numbers")

    #expect(await slow.next().first?.payload == 101)
    #expect(await diagnostics.next() == [.dropped(subject: "numbers", count: 89, total: 90)])
    #expect(await fast.next().first?.payload == 101)
    await nats.close()
    await sender.close()
  }

  @Test func `N3 publishing beyond the send limit fails`()
    async throws
  {
    let server = try await NATSServer()
    await server.stop()
    var options = NATSOptions()
    options.sendLimit = 100_000
    let nats = NATSConnection(server.url, options: options)
    let recorder = Recorder(nats.broadcaster(of: Data.self, on: "numbers"))
    var accepted = 0
    #expect(throws: NATSError.sendLimitReached) {
      for _ in 0..<200 {
        try nats.publish(Data(count: 1_000), on: "numbers")
        accepted += 1
      }
    }
    #expect(accepted > 80 && accepted <= 100)

    try await server.start()

    #expect(await recorder.next(accepted).count == accepted)
    try nats.publish(Data(count: 1), on: "numbers")
    #expect(await recorder.next().first?.payload.count == 1)
    await nats.close()
  }

  @Test func `N3 the send limit holds while the connection is lost`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.sendLimit = 100_000
    let nats = NATSConnection(server.url, options: options)
    let recorder = Recorder(nats.broadcaster(of: Data.self, on: "numbers"))
    await nats.isEventually(.connected)
    await server.stop()
    await nats.isEventually(.reconnecting)
    var accepted = 0
    #expect(throws: NATSError.sendLimitReached) {
      for _ in 0..<200 {
        try nats.publish(Data(count: 1_000), on: "numbers")
        accepted += 1
      }
    }
    #expect(accepted > 80 && accepted <= 101)

    try await server.start()

    #expect(await recorder.next(accepted).count == accepted)
    await nats.close()
  }
}
#endif
