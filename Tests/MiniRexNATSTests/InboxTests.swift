#if NATS
import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexNATS

@Suite(.heavy)
struct InboxTests {
  /// In a separate process, because it blocks the pool of threads.
  @Test func `N6 a reply behind callbacks that block is delivered`() async {
    await #expect(processExitsWith: .success) { try await Self.verify() }
  }

  private static func verify() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    // A probe would count as a received message.
    options.probeInterval = .seconds(600)
    let (nats, other) = (NATSConnection(server.url), NATSConnection(server.url, options: options))
    let answers = (0..<3).map { _ in TaskSource<Int, Never>() }
    let service = other.reply(on: "numbers") { (number: Int) in answers[number].publisher }
    try await other.areSubscribed()
    func request(_ number: Int) -> PublishedTask<Int, NATSError> {
      nats.request(Int.self, number, on: "numbers", timeout: .seconds(600))
    }
    let (first, others) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let blocked = Shared(0)
    @Sendable func block(_ mayGo: DispatchSemaphore) {
      blocked.increment()
      mayGo.waitAtMost()
    }
    let slow = request(0).subscribe { _ in block(first) }
    let late = Recorder(request(1))
    // One of them shares the thread of the replies.
    let bag = SubscriptionBag()
    for _ in 0..<64 {
      nats.broadcaster(of: Int.self, on: "block").subscribe { _ in block(others) }.store(in: bag)
    }
    try await nats.areSubscribed()
    await until(other.core.services.count) { $0 == 2 }
    answers[0].finish(.success(0))
    await until(blocked.value) { $0 == 1 }

    // The second reply follows a callback that blocks, and has no copy in the next subscription for replies.
    let count = nats.statistics.messagesIn
    try other.publish(1, on: "block")
    await until(nats.statistics.messagesIn) { $0 == count + 64 }
    answers[1].finish(.success(1))
    await until(nats.statistics.messagesIn) { $0 == count + 65 }
    try await Task.sleep(for: .milliseconds(20))
    let third = Recorder(request(2))
    first.signal()
    await until(blocked.value) { $0 == 65 }
    // A subscription for replies ends after a second without work.
    try await Task.sleep(for: .seconds(3))
    for _ in 0..<64 { others.signal() }

    #expect(await late.next() == [.success(1)])
    answers[2].finish(.success(2))
    #expect(await third.next() == [.success(2)])
    withExtendedLifetime((service, slow)) {}
    await nats.close()
    await other.close()
  }

  @Test func `N6 a reply over the former subscription arrives late`()
    async throws
  {
    let server = try await NATSServer()
    let proxy = try Proxy(to: server.address)
    let (nats, other) = (NATSConnection(proxy.url), NATSConnection(server.url))
    let answers = (0..<3).map { _ in TaskSource<Int, Never>() }
    let service = other.reply(on: "numbers") { (number: Int) in answers[number].publisher }
    try await other.areSubscribed()
    func request(_ number: Int) -> PublishedTask<Int, NATSError> {
      nats.request(Int.self, number, on: "numbers", timeout: .seconds(600))
    }
    let (isBlocked, mayGo) = (Shared(false), DispatchSemaphore(value: 0))
    let slow = request(0).subscribe { _ in
      isBlocked.value = true
      mayGo.waitAtMost()
    }
    let late = Recorder(request(1))
    await until(other.core.services.count) { $0 == 2 }
    answers[0].finish(.success(0))
    await until { isBlocked.value }
    try await Task.sleep(for: .milliseconds(20))

    // The server does not learn of the next subscription for replies.
    proxy.hold()
    let third = Recorder(request(2))
    mayGo.signal()
    answers[1].finish(.success(1))
    // The server has then sent the reply.
    try await other.areSubscribed()
    try await Task.sleep(for: .seconds(3))
    proxy.pass()

    #expect(await late.next() == [.success(1)])
    await until(other.core.services.count) { $0 == 1 }
    answers[2].finish(.success(2))
    #expect(await third.next() == [.success(2)])
    withExtendedLifetime((service, slow)) {}
    await nats.close()
    await other.close()
  }

  @Test func `N6 callbacks that block briefly cause few further subscriptions`() async throws {
    let server = try await NATSServer("trace: true")
    var options = NATSOptions()
    // A probe would subscribe to replies.
    options.probeInterval = .seconds(600)
    let (nats, other) = (NATSConnection(server.url), NATSConnection(server.url, options: options))
    let service = other.reply(on: "echo") { (number: Int) in
      PublishedTask<Int, Never>.success(number)
    }
    try await other.areSubscribed()
    let (hasCome, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let bag = SubscriptionBag()
    func request() {
      nats.request(Int.self, 1, on: "echo", timeout: .seconds(600)).subscribe { _ in
        hasCome.signal()
        mayGo.waitAtMost()
      }.store(in: bag)
    }
    let clock = ContinuousClock()
    let start = clock.now
    request()
    var (last, slowRounds) = (start, 0)
    for _ in 0..<40 {
      await hasCome.isSignalled()
      try await Task.sleep(for: .milliseconds(12))
      request()
      if clock.now - last > .milliseconds(30) { slowRounds += 1 }
      last = clock.now
      mayGo.signal()
    }
    await hasCome.isSignalled()
    mayGo.signal()
    try await nats.areSubscribed()

    // A callback of 100 ms adds one, and ends at most a few rounds later.
    let limit = 2 + Int((clock.now - start) / .seconds(1)) + 2 * slowRounds
    let count = server.log.split(separator: "[SUB _INBOX.minirex").count - 1
    #expect(2...limit ~= count)
    withExtendedLifetime(service) {}
    await nats.close()
    await other.close()
  }

  @Test func `N6 one probe serves many requests of a process`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.probeInterval = .milliseconds(100)
    let (nats, other) = (NATSConnection(server.url), NATSConnection(server.url, options: options))
    let service = other.reply(on: "silent") { (_: Int) in PublishedTask<Int, Never>.never }
    try await other.areSubscribed()
    let clock = ContinuousClock()
    let start = clock.now
    let requests = (0..<100).map {
      Recorder(nats.request(Int.self, $0, on: "silent", timeout: .seconds(600)))
    }

    await until(nats.statistics.messagesIn) { $0 >= 20 }

    let rounds = Int((clock.now - start) / .milliseconds(100)) + 1
    #expect(nats.statistics.messagesIn <= 3 * rounds)
    #expect(other.core.services.count == 100)
    withExtendedLifetime((service, requests)) {}
    await nats.close()
    await other.close()
  }
}
#endif
