import Dispatch
import MiniRex
import TestSupport
import Testing

/// Operators that emit per input, with several inputs or none of their own queue.
private let operators: [(name: String, apply: @Sendable (Broadcaster<Int>) -> Broadcaster<Int>)] = [
  ("map", { $0.map { $0 } }),
  ("filter", { $0.filter { _ in true } }),
  ("compactMap", { $0.compactMap { $0 } }),
  ("scan", { $0.scan(-1) { $1 + $0 * 0 } }),
  ("prepend", { $0.prepend(-1).dropFirst(1) }),
  ("dropFirst", { $0.dropFirst(0) }),
  ("prefix", { $0.prefix(1_000) }),
  ("prefix while", { $0.prefix { _ in true } }),
  ("prefix until", { $0.prefix(until: Broadcaster<Int>.never) }),
  ("removeDuplicates", { $0.removeDuplicates() }),
  ("trace", { $0.trace("trace") }),
  ("merge", { merge($0, .never) }),
  ("merge of an array", { merge([$0, .never]) }),
  ("append", { $0.append(.never) }),
  ("append after", { Broadcaster<Int>.sequence([]).append($0) }),
  ("share", { $0.share() }),
  ("shared", { $0.inOneRun() }),
  ("shared of shared", { $0.map { $0 }.inOneRun().share().inOneRun() }),
  (
    "flatMap of shared",
    { one in Broadcaster.sequence([0]).flatMap(limit: 1) { _ in one.inOneRun() }.share() }
  ),
  ("share of share", { $0.map { $0 }.share().map { $0 }.share() }),
  ("flatMap outer", { $0.flatMap(limit: .max) { .sequence([$0]) } }),
  ("flatMap inner", { inner in Broadcaster.sequence([0]).flatMap(limit: 1) { _ in inner } }),
  (
    "flatMap of flatMap",
    { inner in
      Broadcaster.sequence([0]).flatMap(limit: 1) { _ in inner.flatMap(limit: 1) { .sequence([$0]) }
      }
    }
  ),
  ("switchToLatest", { inner in Broadcaster.sequence([0]).flatMapLatest { _ in inner } }),
  ("flatMapLatest outer", { $0.flatMapLatest { .sequence([$0]) } }),
  ("withLatest", { $0.withLatest(from: PublishedValue.constant(0)).map { one, _ in one } }),
  ("custom", { upstream in Broadcaster { receive in upstream.subscribe(receive) } }),
]

private let names: [String] = operators.map { $0.name }

extension BackpressureTests {
  @Test(arguments: names)
  func `F10 backpressure crosses operators`(_ name: String) async throws {
    let apply = try #require(operators.first { $0.name == name }?.apply)
    let source = BroadcastSource<Int>()
    let values = apply(source.publisher).values(.suspending(4))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 4)
    #expect(values.bufferedCount == 4)
    #expect(await values.take(2) == [0, 1])
    await sender.isSuspended(after: 6)
    values.invalidate()
    await sender.finish()
    #expect(sender.sent.value == 9)
  }

  @Test(arguments: [true, false])
  func `F10 the slowest subscriber of share or a shared run decides, late subscribers included`(
    isOperator: Bool
  ) async {
    let source = BroadcastSource<Int>()
    let shared = isOperator ? source.publisher.share() : source.publisher.inOneRun()
    let fast = shared.values(.suspending(100))
    let callback = shared.subscribe { _ in }
    let sender = Sender(0..<20, to: source)
    await sender.isSuspended(after: 20)
    let slow = shared.values(.suspending(2))
    let other = Sender(20..<30, to: source)
    await other.isSuspended(after: 2)
    #expect(fast.bufferedCount == 22)
    #expect(await slow.take(1) == [20])
    await other.isSuspended(after: 3)
    slow.invalidate()
    await other.finish()
    #expect(await fast.take(30) == Array(0..<30))
    withExtendedLifetime(callback) {}
  }

  @Test func `F10 a previous publisher of switchToLatest resumes`() async {
    let (one, other) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let outer = BroadcastSource<Broadcaster<Int>>()
    let values = outer.publisher.switchToLatest().values(.suspending(2))
    outer.broadcast(one.publisher)
    let sender = Sender(0..<9, to: one)
    await sender.isSuspended(after: 2)
    outer.broadcast(other.publisher)
    await sender.finish()
    #expect(sender.sent.value == 9)
    let later = Sender(100..<109, to: other)
    await later.isSuspended(after: 0)
    #expect(await values.take(1) == [0])
    await later.isSuspended(after: 1)
  }

  @Test func `F10 a filtered update does not count`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.filter { $0 % 10 == 0 }.values(.suspending(2))
    let sender = Sender(0..<100, to: source)
    await sender.isSuspended(after: 11)
    #expect(await values.take(2) == [0, 10])
  }

  @Test func `F10 the queue of flatMap counts, and its inner publishers still finish`() async {
    let source = BroadcastSource<Int>()
    let inners = (0..<10).map { _ in BroadcastSource<Int>() }
    let values = source.publisher.flatMap(limit: 1) { inners[$0].publisher }.values(.suspending(2))
    let sender = Sender(0..<10, to: source)
    // One is active, two are queued.
    await sender.isSuspended(after: 3)
    for inner in inners[..<2] {
      let innerSender = Sender(0..<1, to: inner)
      await innerSender.finish()
      #expect(innerSender.sent.value == 1)
      inner.end()
    }
    #expect(values.bufferedCount == 2)
    await sender.isSuspended(after: 3)
    #expect(await values.take(2) == [0, 0])
    await sender.isSuspended(after: 5)
  }

  @Test func `F10 a late subscription passes backpressure on`() async {
    let source = BroadcastSource<Int>()
    let first = BroadcastSource<Int>()
    let values = first.publisher.append(source.publisher).values(.suspending(2))
    first.end()
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    withExtendedLifetime(values) {}
  }

  @Test func `F10 updates that an operator holds do not count`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.chunked(by: 10).values(.suspending(2))
    let sender = Sender(0..<100, to: source)
    await sender.isSuspended(after: 20)
    #expect(await values.take(2) == [Array(0..<10), Array(10..<20)])
  }

  @Test func `F11 other sources exceed the limit without loss`() async {
    let values = Broadcaster<Int>.sequence(Array(0..<100)).values(.suspending(3))
    #expect(values.bufferedCount == 100)
    #expect(await values.takeAll() == Array(0..<100))
    let custom = Broadcaster { receive in
      for number in 0..<50 { receive(number) }
      return .ended
    }.values(.suspending(3))
    #expect(custom.bufferedCount == 50)
    #expect(custom.droppedCount == 0)
  }

  @Test func `F15 a dispatch to an actor suspends senders`() async {
    let source = BroadcastSource<Int>()
    let place = BlockableActor()
    let blocked = Gate()
    let subscription = source.publisher.subscribe(isolatedTo: place, buffering: .suspending(3)) {
      place, number in
      if number == 0 { blocked.wait() }
      place.received.append(number)
    }
    let line = #line - 5
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 3)
    #expect(source.slowSubscribers.map(\.place.line) == [line])
    blocked.open()
    await sender.finish()
    await until { subscription.pendingUpdates == 0 }
    #expect(await place.received == Array(0..<9))
  }

  @MainActor @Test func `F15 a dispatch to the main actor suspends senders`() async {
    let source = BroadcastSource<Int>()
    let received = Shared<[Int]>([])
    let subscription = source.publisher.subscribeOnMain(buffering: .suspending(2)) {
      received.append($0)
    }
    let most = Shared(0)
    let task = Task.detached {
      for number in 0..<50 {
        try await source.send(number)
        let count = subscription.pendingUpdates
        most.change { $0 = max($0, count) }
      }
    }
    await until { received.value.count == 50 }
    _ = await task.result
    #expect(received.value == Array(0..<50))
    #expect(most.value <= 2)
    withExtendedLifetime(subscription) {}
  }
}

/// An actor on a queue, whose callbacks may block.
actor BlockableActor {
  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  var received: [Int] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
}
