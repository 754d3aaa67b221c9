import MiniRex
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

@Suite(.light) struct AsyncCallbackTests {
  @Test func `an asynchronous callback receives the updates in order, one at a time`() async {
    let source = BroadcastSource<Int>()
    let log = Mutex<[String]>([])
    let ended = AsyncGate()
    let subscription = source.publisher.subscribe(.unbounded) { number in
      log.withLock { $0.append("begin \(number)") }
      await Task.yield()
      log.withLock { $0.append("end \(number)") }
    } onEnd: {
      log.withLock { $0.append("over") }
      ended.open()
    }

    for number in 1...3 { source.broadcast(number) }
    source.end()
    await ended.wait()

    let expected = (1...3).flatMap { ["begin \($0)", "end \($0)"] } + ["over"]
    #expect(log.withLock { $0 } == expected)
    #expect(!subscription.isSubscribed)
  }

  @Test func `the policy decides about updates that arrive during a call`() async {
    let property = PublishedProperty(0)
    let seen = Mutex<[Int]>([])
    let (began, mayReturn) = (AsyncGate(), AsyncGate())
    let subscription = property.publisher.subscribe(.bufferingNewest(1)) { number in
      seen.withLock { $0.append(number) }
      began.open()
      await mayReturn.wait()
    }
    await began.wait()

    for number in 1...5 { property.value = number }

    #expect(subscription.pendingUpdates == 1)
    #expect(subscription.droppedCount == 4)
    mayReturn.open()
    await subscription.drained()
    #expect(seen.withLock { $0 } == [0, 5])
    withExtendedLifetime(subscription) {}
  }

  @Test func `cancellation cancels the call in progress, and can wait for its return`() async {
    let source = BroadcastSource<Int>()
    let log = Mutex<[String]>([])
    let began = AsyncGate()
    let subscription = source.publisher.subscribe(.unbounded) { number in
      began.open()
      try? await Task.sleep(for: .seconds(3_600))
      log.withLock { $0.append("\(number) \(Task.isCancelled)") }
    } onEnd: {
      log.withLock { $0.append("over") }
    }
    source.broadcast(1)
    source.broadcast(2)
    await began.wait()

    await subscription.invalidateAndWait()

    #expect(log.withLock { $0 } == ["1 true"])
    #expect(source.subscriberCount == 0)
  }

  @Test func `R11 a canceled asynchronous callback is released`() async throws {
    let source = BroadcastSource<Int>()
    try await expectReleased { tracker in
      let object = tracker(Thing())
      let subscription = source.publisher.subscribe(.unbounded) { _ in
        withExtendedLifetime(object) {}
      }
      source.broadcast(1)
      await subscription.invalidateAndWait()
    }
  }
}
