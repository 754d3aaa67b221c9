import Foundation
import MiniRex
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

private final class Owner: Sendable {}

private actor Spot {}

/// A subscription of each kind of host, to sources that the row can finish.
private struct Row: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let subscribe: @Sendable (Sources) -> Subscription

  init(_ name: String, _ subscribe: @escaping @Sendable (Sources) -> Subscription) {
    testDescription = name
    self.subscribe = subscribe
  }
}

private struct Sources: Sendable {
  let events = BroadcastSource<Int>()
  let value = PublishedProperty(1)
  let other = PublishedProperty(2)
  let task = TaskSource<Int, Never>()
  let clock = ManualClock()
  let owner = Owner()
  let place = Spot()

  func finish() {
    events.end()
    value.end()
    other.end()
    task.finish(.success(1))
    clock.advance(by: .seconds(60))
  }
}

private let rows: [Row] = [
  Row("events") { $0.events.publisher.subscribe { _ in } },
  Row("value") { $0.value.publisher.subscribe { _ in } },
  Row("task") { $0.task.publisher.subscribe { _ in } },
  Row("task, success") { $0.task.publisher.subscribe(success: { _ in }) },
  Row("onEnd") {
    $0.events.publisher.subscribe { _ in
    } onEnd: {
    }
  },
  Row("map") { $0.value.publisher.map { $0 + 1 }.subscribe { _ in } },
  Row("computed") { sources in
    PublishedValue.computed { read in read(sources.value) + read(sources.other) }
      .subscribe { _ in }
  },
  Row("combineLatest") {
    combineLatest($0.value.publisher, $0.other.publisher).subscribe { _ in }
  },
  Row("merge") { merge($0.events.publisher, $0.value.publisher).subscribe { _ in } },
  Row("append") { $0.events.publisher.append($0.value.publisher).subscribe { _ in } },
  Row("prepend") { $0.events.publisher.prepend(1).subscribe { _ in } },
  Row("switchToLatest") { sources in
    sources.value.publisher.map { _ in sources.other.publisher }.switchToLatest()
      .subscribe { _ in }
  },
  Row("flatMap(limit:)") { sources in
    sources.value.publisher.broadcaster.flatMap(limit: 1) { _ in sources.events.publisher }
      .subscribe { _ in }
  },
  Row("flatMap of a task") { sources in
    sources.task.publisher.flatMap { _ in PublishedTask<Int, Never>.success(1) }
      .subscribe { _ in }
  },
  Row("share") { $0.events.publisher.share().subscribe { _ in } },
  Row("debounce") {
    $0.events.publisher.debounce(for: .seconds(1), clock: $0.clock).subscribe { _ in }
  },
  Row("delay") { $0.events.publisher.delay(for: .seconds(1), clock: $0.clock).subscribe { _ in } },
  Row("publishedValue(initial:)") {
    $0.events.publisher.publishedValue(initial: 1).subscribe { _ in }
  },
  Row("withLatest") {
    $0.events.publisher.withLatest(from: $0.value.publisher).subscribe { _ in }
  },
  Row("isolatedTo") { $0.events.publisher.subscribe(isolatedTo: $0.place) { _, _ in } },
  Row("isolatedTo, onEnd") {
    $0.events.publisher.subscribe(isolatedTo: $0.place) { _, _ in
    } onEnd: { _ in
    }
  },
  Row("asynchronous callback") { $0.events.publisher.subscribe(.unbounded) { _ in await pause() } },
  Row("asynchronous callback, onEnd") {
    $0.events.publisher.subscribe(.unbounded) { _ in
      await pause()
    } onEnd: {
    }
  },
  Row("weakly") { $0.events.publisher.subscribe(weakly: $0.owner) { _, _ in } },
  Row("subscribeOnce") { $0.events.publisher.subscribeOnce { _ in } },
  Row("a closure that starts") { sources in
    Broadcaster { receive in sources.events.publisher.subscribe(receive) }.subscribe { _ in }
  },
]

private func pause() async { await Task.yield() }

@Suite(.light) struct EndedTests {
  @Test(arguments: rows)
  fileprivate func `ended returns after the source has finished`(_ row: Row) async {
    let sources = Sources()
    let subscription = row.subscribe(sources)
    let waiting = waiter(for: subscription)

    #expect(subscription.isSubscribed)
    sources.finish()

    await waiting.finished()
    #expect(!subscription.isSubscribed)
    await subscription.ended
  }

  @Test(arguments: rows)
  fileprivate func `ended returns after invalidate`(_ row: Row) async {
    let sources = Sources()
    let subscription = row.subscribe(sources)
    let (first, second) = (waiter(for: subscription), waiter(for: subscription))

    subscription.invalidate()

    await first.finished()
    await second.finished()
    await subscription.ended
    withExtendedLifetime(sources) {}
  }

  @Test(arguments: rows)
  fileprivate func `ended returns early for a canceled task, and only for this task`(
    _ row: Row
  ) async {
    let sources = Sources()
    let subscription = row.subscribe(sources)
    let (canceled, waiting) = (waiter(for: subscription), waiter(for: subscription))

    canceled.cancel()
    await canceled.finished()

    #expect(subscription.isSubscribed)
    subscription.invalidate()
    await waiting.finished()
    withExtendedLifetime(sources) {}
  }

  @Test func `ended returns for a subscription from a closure`() async {
    let subscription = Subscription {}
    let waiting = waiter(for: subscription)

    subscription.invalidate()

    await waiting.finished()
    await Subscription.ended.ended
  }

  @Test func `ended returns after onEnd has returned`() async {
    let source = BroadcastSource<Int>()
    let isOver = Mutex(false)
    let subscription = source.publisher.subscribe { _ in
    } onEnd: {
      isOver.withLock { $0 = true }
    }
    let waiting = waiter(for: subscription)

    source.end()
    await waiting.finished()

    #expect(isOver.withLock { $0 })
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: ["prefix", "subscribeOnce"])
  func `ended returns after the last callback of an operator that finishes early`(
    _ name: String
  ) async {
    let source = BroadcastSource<Int>()
    let hasReturned = Shared(false)
    let wasEarly = Shared<Bool?>(nil)
    let callback: @Sendable (Int) -> Void = { _ in
      // A wait that does not await this callback returns within this time.
      for _ in 0..<50 where !hasReturned.value { usleep(1_000) }
      wasEarly.value = hasReturned.value
    }
    let subscription =
      name == "prefix"
      ? source.publisher.prefix(1).subscribe(callback) : source.publisher.subscribeOnce(callback)
    let waiting = waiter(for: subscription)
    let noting = Task.detached {
      await waiting.finished()
      hasReturned.value = true
    }

    onNewThread { source.broadcast(1) }
    await noting.finished()

    #expect(wasEarly.value == false)
  }

  @Test func `ended retains the subscription while it waits, and not the source`() async {
    var source: BroadcastSource<Int>? = BroadcastSource()
    let recorded = Mutex<[Int]>([])
    let publisher = source!.publisher
    let waiting = waiter(
      for: publisher.subscribe { number in recorded.withLock { $0.append(number) } })

    source?.broadcast(1)
    source = nil
    await waiting.finished()

    #expect(recorded.withLock { $0 } == [1])
  }

  @Test func `a wait that has returned retains neither subscription nor callback`() async throws {
    let source = BroadcastSource<Int>()
    try await expectReleased { tracker in
      let owner = tracker(Owner())
      let subscription = tracker(
        source.publisher.subscribe { _ in withExtendedLifetime(owner) {} })
      let waiting = (1...100).map { _ in waiter(for: subscription) }
      for wait in waiting { wait.cancel() }
      for wait in waiting { await wait.finished() }
    }
  }

  @Test func `ended of ten thousand subscriptions returns with their source`() async {
    let source = BroadcastSource<Int>()
    let subscriptions = (1...10_000).map { _ in source.publisher.subscribe { _ in } }
    let waits = subscriptions.map { waiter(for: $0) }

    source.end()
    for wait in waits { await wait.finished() }

    #expect(subscriptions.allSatisfy { !$0.isSubscribed })
  }
}

/// Returns a task that waits for the end from now on.
private func waiter(for subscription: Subscription) -> Task<Void, Never> {
  guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
    return Task { await subscription.ended }
  }
  return Task.immediate { await subscription.ended }
}
