import MiniRex
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

private actor Log {
  var lines: [String] = []

  func append(_ line: String) { lines.append(line) }
}

private final class Owner: Sendable {}

@Suite(.light) struct EndingTests {
  @Test func `R26 onEnd runs on the main actor after the last dispatched update`() async {
    let source = BroadcastSource<Int>()
    let log = await MainActor.run { MainLog() }
    let subscription = await source.publisher.subscribeOnMain {
      log.lines.append("\($0)")
    } onEnd: {
      log.lines.append("over")
    }

    await onQueue {
      for number in 1...3 { source.broadcast(number) }
      source.end()
    }
    await until { !subscription.isSubscribed }
    await MainActor.run {}

    #expect(await log.lines == ["1", "2", "3", "over"])
  }

  @Test func `R26 onEnd runs on the actor after the last dispatched update`() async {
    let source = BroadcastSource<Int>()
    let log = Log()
    let over = AsyncGate()
    let subscription = source.publisher.subscribe(isolatedTo: log) { log, number in
      log.append("\(number)")
    } onEnd: { log in
      log.append("over")
      over.open()
    }

    for number in 1...3 { source.broadcast(number) }
    source.end()
    await over.wait()

    #expect(await log.lines == ["1", "2", "3", "over"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `R26 onEnd of a dispatched subscription never runs after invalidate`() async {
    let source = BroadcastSource<Int>()
    let log = Log()
    let subscription = source.publisher.subscribe(isolatedTo: log) { log, number in
      log.append("\(number)")
    } onEnd: { log in
      log.append("over")
    }

    subscription.invalidate()
    source.end()
    await subscription.drained()
    await log.append("last")

    #expect(await log.lines == ["last"])
  }

  @Test func `R26 onEnd runs once for a weak owner that exists`() {
    let (first, second) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let count = Mutex(0)
    let owner = Owner()
    var gone: Owner? = Owner()
    let bag = SubscriptionBag()
    first.publisher.subscribe(weakly: owner) { _, _ in
    } onEnd: {
      count.withLock { $0 += 1 }
    }.store(in: bag)
    second.publisher.subscribe(weakly: gone!) { _, _ in
    } onEnd: {
      count.withLock { $0 += 100 }
    }.store(in: bag)

    gone = nil
    first.end()
    second.end()

    #expect(count.withLock { $0 } == 1)
    withExtendedLifetime((owner, gone, bag)) {}
  }

  @Test func `drained returns after every dispatched update before it`() async {
    let source = BroadcastSource<Int>()
    let log = Log()
    let subscription = source.publisher.subscribe(isolatedTo: log) { log, number in
      log.append("\(number)")
    }

    for number in 1...2_001 { source.broadcast(number) }
    await subscription.drained()

    #expect(await log.lines.count == 2_001)
    await subscription.drained()
    withExtendedLifetime(subscription) {}
  }

  @Test func `drained does not wait for later updates`() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let source = BroadcastSource<Int>()
    let seen = Mutex(0)
    let (first, third) = (AsyncGate(), AsyncGate())
    let subscription = source.publisher.subscribe(.unbounded) { number in
      if number == 1 { await first.wait() }
      if number == 3 { await third.wait() }
      seen.withLock { $0 = number }
    }
    source.broadcast(1)
    source.broadcast(2)
    // It counts the updates before it suspends.
    let drained = Task.immediate { await subscription.drained() }
    source.broadcast(3)

    first.open()
    await drained.finished()

    #expect(seen.withLock { $0 } == 2)
    third.open()
    await subscription.drained()
    #expect(seen.withLock { $0 } == 3)
    withExtendedLifetime(subscription) {}
  }

  @Test func `drained returns early for a canceled subscription, and for a canceled task`() async {
    let source = BroadcastSource<Int>()
    let began = AsyncGate()
    let subscription = source.publisher.subscribe(.unbounded) { _ in
      began.open()
      try? await Task.sleep(for: .seconds(3_600))
    }
    source.broadcast(1)
    await began.wait()
    let waiting = Task { await subscription.drained() }
    waiting.cancel()
    await waiting.finished()

    let other = Task { await subscription.drained() }
    await Task.yield()
    subscription.invalidate()
    await other.finished()
  }
}

@MainActor private final class MainLog {
  var lines: [String] = []
}
