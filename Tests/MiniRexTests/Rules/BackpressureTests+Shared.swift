import MiniRex
import TestSupport
import Testing

extension Publisher where Kind == BroadcasterKind {
  /// Returns a broadcaster whose run the callbacks own.
  func inOneRun() -> Broadcaster<Update> {
    .shared { receive in subscribe(receive) }
  }
}

/// Backpressure through `Broadcaster.shared`, which passes it on if it returns the upstream's
/// subscription (F11).
extension BackpressureTests {
  @Test func `F10 a run that a callback started suspends for a subscriber that joins in it`() async
  {
    let source = BroadcastSource<Int>()
    let inner = Shared<PublisherValues<Int>?>(nil)
    let whole = Shared<Broadcaster<Int>?>(nil)
    let shared = Broadcaster<Int>.shared { receive in
      inner.value = whole.value?.values(.suspending(2))
      return source.publisher.subscribe(receive)
    }
    whole.value = shared
    let callback = shared.subscribe { _ in }
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    #expect(await inner.value?.take(1) == [0])
    await sender.isSuspended(after: 3)
    inner.value?.invalidate()
    await sender.finish()
    whole.value = nil
    withExtendedLifetime(callback) {}
  }

  // Each update waits for an inner publisher, before the shared run.

  @Test(arguments: [true, false])
  func `F10 the updates queued before a shared run count for its subscribers`(
    isOperator: Bool
  ) async {
    let source = BroadcastSource<Int>()
    let inners = (0..<9).map { _ in BroadcastSource<Int>() }
    let queued = source.publisher.flatMap(limit: 1) { inners[$0].publisher }
    let shared = isOperator ? queued.share() : queued.inOneRun()
    let fast = shared.values(.suspending(100))
    let values = shared.share().values(.suspending(4))
    let sender = Sender(0..<9, to: source)
    // One is active, four are queued.
    await sender.isSuspended(after: 5)
    #expect(source.slowSubscribers.map(\.pendingUpdates) == [4])
    #expect(!source.offer(0))
    for inner in inners[..<2] {
      let innerSender = Sender(0..<1, to: inner)
      await innerSender.finish()
      #expect(innerSender.sent.value == 1)
      inner.end()
    }
    // Two are in the buffer, two are queued.
    await sender.isSuspended(after: 5)
    #expect(await values.take(2) == [0, 0])
    await sender.isSuspended(after: 7)
    let late = shared.values(.suspending(2))
    values.invalidate()
    await sender.isSuspended(after: 7)
    late.invalidate()
    await sender.finish()
    #expect(sender.sent.value == 9)
    #expect(source.slowSubscribers.isEmpty)
    withExtendedLifetime(fast) {}
  }

  @Test func `F10 a full subscriber of a shared run suspends the outer source of flatMap`() async {
    let source = BroadcastSource<Int>()
    let shared = source.publisher.flatMap(limit: .max) { .sequence([$0]) }.share()
    let values = shared.values(.suspending(4))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 4)
    #expect(await values.take(2) == [0, 1])
    await sender.isSuspended(after: 6)
    values.invalidate()
    await sender.finish()
    #expect(sender.sent.value == 9)
  }

  @Test func `F14 a loop that feeds a queue before its shared run does not suspend itself`()
    async throws
  {
    let source = BroadcastSource<Int>()
    let inner = BroadcastSource<Int>()
    let shared = source.publisher.flatMap(limit: 1) { _ in inner.publisher }.share()
    let values = shared.values(.suspending(1))
    let loop = Task {
      for await _ in values {
        for number in 1...9 { try await source.send(number) }
        return true
      }
      return false
    }
    source.broadcast(0)
    inner.broadcast(0)
    #expect(try await loop.finished() == true)
  }

  @Test func `F9 the last cancellation stops a shared run before its sender continues`() async {
    let source = BroadcastSource<Int>()
    let received = Shared<[Int]>([])
    let shared = Broadcaster.shared { receive in
      source.publisher.subscribe {
        received.append($0)
        receive($0)
      }
    }
    let values = shared.values(.suspending(2))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    values.invalidate()
    await sender.finish()
    #expect(sender.sent.value == 9)
    #expect(received.value == [0, 1])
    #expect(source.subscriberCount == 0)
    #expect(source.slowSubscribers.isEmpty)
  }

  @Test func `F9 a subscriber that cancels in its callback suspends no sender of a shared run`()
    async
  {
    let source = BroadcastSource<Int>()
    let shared = source.publisher.inOneRun()
    let values = shared.values(.suspending(3))
    let own = Shared<Subscription?>(nil)
    own.value = shared.subscribe { number in
      guard number == 1 else { return }
      values.invalidate()
      own.value?.invalidate()
    }
    let sender = Sender(0..<9, to: source)
    await sender.finish()
    #expect(sender.sent.value == 9)
    #expect(source.subscriberCount == 0)
    own.value = nil
  }

  @Test func `F9 a shared run retains neither source nor updates`() async throws {
    let existing = Shared(0)
    weak var source: BroadcastSource<Piece>?
    do {
      let strong = BroadcastSource<Piece>()
      source = strong
      let shared = strong.publisher.inOneRun()
      let values = shared.values(.suspending(1))
      try await strong.send(Piece(0, existing))
      let suspended = Task { try await strong.send(Piece(1, existing)) }
      await until { existing.value == 2 }
      suspended.cancel()
      _ = await suspended.result
      #expect(existing.value == 1)
      withExtendedLifetime((shared, values)) {}
    }
    await until { source == nil }
    #expect(source == nil)
    #expect(existing.value == 0)
  }

  @Test func `F9 the end of a shared run suspends no sender`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.prefix(3).inOneRun().values(.suspending(2))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    #expect(await values.take(1) == [0])
    await sender.finish()
    #expect(sender.sent.value == 9)
    #expect(await values.takeAll() == [1, 2])
  }

  @Test func `F12 slowSubscribers names a subscriber of a shared run`() {
    let source = BroadcastSource<Int>()
    let values = source.publisher.inOneRun().inOneRun().values(.suspending(2))
    let line = #line - 1
    source.broadcast(0)
    source.broadcast(1)
    #expect(source.slowSubscribers.map(\.place.line) == [line])
    values.invalidate()
    #expect(source.slowSubscribers.isEmpty)
  }

  @Test func `F17 a shared run iterates a sequence no faster than its subscriber reads`() async {
    let taken = Shared(0)
    let numbers = AsyncStream<Int> {
      taken.increment()
      return taken.value
    }
    let values = Broadcaster(numbers.prefix(20)).inOneRun().values(.suspending(2))
    await until { taken.value >= 3 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(taken.value == 3)
    #expect(await values.takeAll() == Array(1...20))
  }
}
