#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Callbacks that block, and everything else of the connection.
@Suite(.heavy)
struct SlowCallbackTests {
  enum Slow: String, CaseIterable, Codable, Sendable {
    case status, diagnostics, subject, stream, reply, request, timeout
  }

  /// Subscribes a callback that blocks, and returns when it does.
  private static func block(
    _ slow: Slow, of nats: NATSConnection, until mayGo: DispatchSemaphore
  ) async throws -> Subscription {
    let hasCome = DispatchSemaphore(value: 0)
    let block: @Sendable () -> Void = {
      hasCome.signal()
      mayGo.waitAtMost()
    }
    let token: Subscription
    switch slow {
    case .status: token = nats.status.subscribe { if $0 == .reconnecting { block() } }
    case .diagnostics:
      token = nats.diagnostics.subscribe { _ in block() }
      try nats.publish("nonsense", on: "undecodable")
    case .subject:
      token = nats.broadcaster(of: Int.self, on: "slow").subscribe { _ in block() }
      try nats.publish(1, on: "slow")
    case .stream:
      let log = nats.stream("ledger").broadcaster(of: Data.self, from: .beginning)
      token = log.subscribe { _ in block() }
    case .reply:
      token = nats.reply(on: "slow") { (number: Int) in
        block()
        return PublishedTask<Int, Never>.success(number)
      }
      try nats.publish(1, on: "slow", replySubject: "nobody")
    case .request:
      let answer = nats.request(Int.self, 1, on: "echo", timeout: .seconds(60))
      token = answer.subscribe { _ in block() }
    case .timeout:
      let answer = nats.request(Int.self, 1, on: "silent", timeout: .milliseconds(1))
      token = answer.subscribe { _ in block() }
    }
    if slow != .status { await hasCome.isSignalled() }
    return token
  }

  /// In a process of its own, because subscriptions of other tests share the pool of threads.
  @Test(arguments: Slow.allCases)
  func `N17 a slow callback delays only its subscription`(_ slow: Slow) async {
    await #expect(processExitsWith: .success) { [slow] in try await Self.verify(slow) }
  }

  private static func verify(_ slow: Slow) async throws {
    let server = try await NATSServer.keeping()
    var options = NATSOptions()
    options.drainTimeout = .milliseconds(500)
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(50), .milliseconds(1))
    let (nats, other) = (NATSConnection(server.url, options: options), NATSConnection(server.url))
    #expect(await nats.log("ledger").create().hasSucceeded())
    let silent = other.reply(on: "silent") { (_: Int) in PublishedTask<Int, Never>.never }
    let echo = other.reply(on: "echo") { (number: Int) in
      PublishedTask<Int, Never>.success(number)
    }
    let undecodable = nats.broadcaster(of: Int.self, on: "undecodable").subscribe { _ in }
    let numbers = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.entered(1, by: "a")).success()?.sequence == 1)
    await until(
      await nats.request(Int.self, 0, on: "echo", timeout: .seconds(5)).result == .success(0))

    let mayGo = DispatchSemaphore(value: 0)
    let token = try await block(slow, of: nats, until: mayGo)
    // Requests move to another subscription when a callback has blocked for 10 ms.
    try await Task.sleep(for: .milliseconds(20))
    for round in 1...2 {
      let pending = (1...20).map {
        Recorder(nats.request(Int.self, $0, on: "echo", timeout: .seconds(60)))
      }
      for (index, recorder) in pending.enumerated() {
        #expect(await recorder.next() == [.success(index + 1)])
      }
      let late = nats.request(Int.self, 1, on: "silent", timeout: .milliseconds(5))
      #expect(await late.result == .failure(.timedOut))
      try other.publish(round, on: "numbers")
      #expect(await numbers.next().map(\.payload) == [round])
      let sent = replica.send(.entered(Double(round) + 0.5, by: "a"))
      #expect(await sent.success()?.sequence == UInt64(round + 1))
      if round == 2 { break }

      await server.stop()
      await until { nats.isConnected.current() == false && other.isConnected.current() == false }
      try await server.start()
      await until { nats.isConnected.current() == true && other.isConnected.current() == true }
      // The echo is there again.
      await until(
        await nats.request(Int.self, 0, on: "echo", timeout: .seconds(5)).result == .success(0))
    }

    if slow != .status { await until { nats.status.current() == .connected } }
    if slow == .status {
      let diagnostics = Recorder(nats.diagnostics)
      try nats.publish("nonsense", on: "undecodable")
      #expect(await diagnostics.next().count == 1)
    }
    await nats.close()
    for _ in 0..<1_000 { mayGo.signal() }
    withExtendedLifetime((token, echo, silent, undecodable)) {}
    await other.close()
  }
}
#endif
