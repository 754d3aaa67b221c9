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
}
#endif
