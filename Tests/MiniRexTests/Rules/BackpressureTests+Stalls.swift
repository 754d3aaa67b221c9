import MiniRex
import MiniRexTesting
import TestSupport
import Testing

extension BackpressureTests {
  @Test func `F12 slowSubscribers names the place and the pending updates, longest stall first`()
    async
  {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let one = source.publisher.map { $0 }.values(.suspending(2, timeout: .seconds(9), clock: clock))
    let other = source.publisher.share().values(.suspending(3))
    let line = #line - 2
    #expect(source.slowSubscribers.isEmpty)
    source.broadcast(0)
    source.broadcast(1)
    await clock.advance(by: .seconds(4))
    let slow = source.slowSubscribers
    #expect(slow.map(\.place.line) == [line])
    #expect(slow.first?.place.fileID == #fileID)
    #expect(slow.map(\.pendingUpdates) == [2])
    #expect(slow.map(\.duration) == [.seconds(4)])
    #expect(
      slow.first?.description
        == "\(#fileID):\(line): 2 pending, stalled for \(Duration.seconds(4))")
    source.broadcast(2)
    #expect(source.slowSubscribers.map(\.place.line) == [line, line + 1])
    #expect(await one.take(2) == [0, 1])
    #expect(source.slowSubscribers.map(\.place.line) == [line + 1])
    other.invalidate()
    #expect(source.slowSubscribers.isEmpty)
  }

  @Test func `F12 a live graph shows the stall`() async throws {
    let graph = LiveGraph()
    let source = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let values = source.publisher.values(.suspending(2))
    #expect(graph.snapshot().edges.map(\.stall) == [nil])
    source.broadcast(0)
    source.broadcast(1)
    let edge = try #require(graph.snapshot().edges.first)
    #expect(edge.stall != nil)
    #expect(edge.pendingUpdates == 2)
    #expect(graph.tree().contains("2 pending, stalled for "))
    #expect(await values.take(1) == [0])
    #expect(graph.snapshot().edges.map(\.stall) == [nil])
  }

  @Test func `F13 a timeout cancels a stalled subscriber`() async {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let stalled = source.publisher.values(.suspending(4, timeout: .seconds(5), clock: clock))
    let other = source.publisher.values(.suspending(100))
    let sender = Sender(0..<20, to: source)
    await sender.isSuspended(after: 4)
    await clock.advance(by: .seconds(3))
    // It restarts with each update that the subscriber takes.
    #expect(await stalled.take(1) == [0])
    await clock.advance(by: .seconds(4))
    #expect(!stalled.hasTimedOut)
    await sender.isSuspended(after: 4)
    await clock.advance(by: .seconds(1))
    #expect(stalled.hasTimedOut)
    await sender.finish()
    #expect(sender.sent.value == 20)
    #expect(await stalled.takeAll() == [1, 2, 3])
    #expect(await other.take(20) == Array(0..<20))
    #expect(!other.hasTimedOut)
    #expect(source.subscriberCount == 1)
  }

  @Test func `F13 the timeout does not run while there is room`() async {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(2, timeout: .seconds(5), clock: clock))
    for round in 0..<5 {
      source.broadcast(0)
      source.broadcast(1)
      await clock.advance(by: .seconds(4))
      #expect(await values.take(1) == [0])
      await clock.advance(by: .seconds(60))
      #expect(!values.hasTimedOut, "\(round)")
      #expect(await values.take(1) == [1])
    }
  }

  @Test func `F13 a timeout cancels a stalled dispatch`() async {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let place = BlockableActor()
    let blocked = Gate()
    let subscription = source.publisher.subscribe(
      isolatedTo: place, buffering: .suspending(2, timeout: .seconds(5), clock: clock)
    ) { place, number in
      if number == 0 { blocked.wait() }
      place.received.append(number)
    }
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    await clock.advance(by: .seconds(5))
    await sender.finish()
    #expect(sender.sent.value == 9)
    blocked.open()
    await until { !subscription.isSubscribed }
    #expect(await place.received == [0, 1])
  }

  @Test func `F13 the timeout ends with the publisher or the subscription`() async {
    let clock = ManualClock()
    let policy = BufferingPolicy<BroadcasterKind>.suspending(
      1, timeout: .seconds(5), clock: clock)
    let source = BroadcastSource<Int>()
    let finished = source.publisher.values(policy)
    let canceled = source.publisher.values(policy)
    source.broadcast(1)
    source.broadcast(2)
    let finite = Broadcaster.sequence([1, 2]).values(policy)
    canceled.invalidate()
    source.end()
    #expect(clock.sleeperCount == 0)
    await clock.advance(by: .seconds(5))
    #expect(!finished.hasTimedOut && !canceled.hasTimedOut && !finite.hasTimedOut)
    #expect(await finished.takeAll() == [1, 2])
    #expect(await finite.takeAll() == [1, 2])
  }

  @Test func `F13 the timeout of a stalled dispatch ends with its publisher`() async {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let (place, blocked) = (BlockableActor(), Gate())
    let subscription = source.publisher.subscribe(
      isolatedTo: place, buffering: .suspending(1, timeout: .seconds(5), clock: clock)
    ) { place, number in
      blocked.wait()
      place.received.append(number)
    }
    source.broadcast(0)
    source.broadcast(1)
    #expect(clock.sleeperCount == 1)
    source.end()
    #expect(clock.sleeperCount == 0)
    blocked.open()
    await until { !subscription.isSubscribed }
    #expect(await place.received == [0, 1])
  }

  @Test func `F13 a finished outer publisher times no subscriber out`() async {
    let clock = ManualClock()
    let (source, inner) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let policy = BufferingPolicy<BroadcasterKind>.suspending(
      1, timeout: .seconds(5), clock: clock)
    let values = source.publisher.flatMap(limit: 1) { _ in inner.publisher }.values(policy)
    let finite = Broadcaster.sequence([1, 2, 3]).flatMap(limit: 1) { _ in inner.publisher }
      .values(policy)
    for number in 0..<3 { source.broadcast(number) }
    #expect(clock.sleeperCount == 1)
    source.end()
    await clock.advance(by: .seconds(5))
    #expect(!values.hasTimedOut && !finite.hasTimedOut)
    // The inner publisher can still stall.
    inner.broadcast(1)
    inner.broadcast(2)
    await clock.advance(by: .seconds(5))
    #expect(values.hasTimedOut && finite.hasTimedOut)
  }

  @Test func `F14 send does not suspend for a loop of the same task`() async throws {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(1))
    source.broadcast(0)
    var received: [Int] = []
    for await number in values {
      received.append(number)
      if number == 10 { break }
      try await source.send(number + 1)
      if number < 5 { try await source.send(number + 1) }
    }
    #expect(received.last == 10)
  }

  @Test(arguments: [2, 3, 5])
  func `F14 loops that feed each other do not deadlock`(_ count: Int) async {
    let sources = (0..<count).map { _ in BroadcastSource<Int>() }
    let loops = (0..<count).map { index in
      let values = sources[index].publisher.values(.suspending(1))
      let next = sources[(index + 1) % count]
      return Task {
        for await number in values {
          if number > 60 { break }
          // Twice, so that the loops fill each other.
          try await next.send(number + 1)
          if number < 6 { try await next.send(number + 1) }
        }
        next.broadcast(1_000)
      }
    }
    sources[0].broadcast(0)
    sources[1].broadcast(0)
    for loop in loops { _ = await loop.result }
  }

  @Test func `F14 send still suspends for the loop of another task`() async {
    let (one, other) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let values = one.publisher.values(.suspending(1))
    let own = other.publisher.values(.suspending(1))
    let sent = Shared(0)
    let task = Task {
      // The task has a loop, but not over this source.
      other.broadcast(0)
      _ = await own.take(1)
      for number in 0..<9 {
        try await one.send(number)
        sent.increment()
      }
    }
    await until { sent.value == 1 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == 1)
    values.invalidate()
    _ = await task.result
    #expect(sent.value == 9)
  }

  @Test func `F14 a loop behind share is found`() async throws {
    let source = BroadcastSource<Int>()
    let values = source.publisher.share().map { $0 }.values(.suspending(1))
    source.broadcast(0)
    var received = 0
    for await number in values {
      received += 1
      if number == 10 { break }
      try await source.send(number + 1)
      if number < 5 { try await source.send(number + 1) }
    }
    #expect(received > 10)
  }

  @Test func `suspending traps below a limit of 1`() async {
    await #expect(processExitsWith: .failure) {
      _ = BufferingPolicy<BroadcasterKind>.suspending(0)
    }
  }
}
