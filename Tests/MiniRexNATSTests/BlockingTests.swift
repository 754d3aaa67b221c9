#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct BlockingTests {
  @Test
  func
    `N2 connecting, subscribing, and publishing do not block without a server`()
    async throws
  {
    let server = try await NATSServer()
    server.send(SIGSTOP)
    let clock = ContinuousClock()
    // The timeouts are longer than the test takes on a loaded machine.
    var options = NATSOptions()
    options.connectTimeout = .seconds(100)

    let took = try clock.measure {
      let nats = NATSConnection(server.url, options: options)
      let token = nats.broadcaster(of: Int.self, on: "numbers").subscribe { _ in }
      for number in 0..<1_000 { try nats.publish(number, on: "numbers") }
      token.invalidate()
    }

    #expect(took < .seconds(20))
    server.send(SIGCONT)
  }

  @Test func `N2 publishing does not block while the server does not read`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.sendLimit = 4 << 20
    let nats = NATSConnection(server.url, options: options)
    await nats.isEventually(.connected)
    server.send(SIGSTOP)
    let payload = Data(count: 10_000)
    let clock = ContinuousClock()
    var slowest = Duration.zero
    var failure: NATSError?

    for _ in 0..<5_000 where failure == nil {
      let began = clock.now
      do { try nats.publish(payload, on: "numbers") } catch { failure = error }
      slowest = max(slowest, clock.now - began)
    }
    let ended = clock.measure {
      nats.broadcaster(of: Int.self, on: "a").subscribe { _ in }.invalidate()
    }

    #expect(failure == .sendLimitReached)
    #expect(slowest < .seconds(20))
    #expect(ended < .seconds(20))
    server.send(SIGCONT)
    await nats.close()
  }

  @Test
  func `N2 diagnostics and other subscriptions continue while a callback blocks`()
    async throws
  {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.usesDedicatedThreads = true
    let nats = NATSConnection(server.url, options: options)
    let (mayGo, hasCome) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slow = nats.broadcaster(of: Int.self, on: "numbers").subscribe { _ in
      hasCome.signal()
      mayGo.waitAtMost()
    }
    let fast = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    try nats.publish(1, on: "numbers")
    await hasCome.isSignalled()

    #expect(await fast.next().first?.payload == 1)
    try nats.publish(2, on: "numbers")
    #expect(await fast.next().first?.payload == 2)

    mayGo.signal()
    mayGo.signal()
    withExtendedLifetime(slow) {}
    await nats.close()
  }
}
#endif
