import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct OperationQueueTests {
  let queue = OperationQueue()

  @Test func `R20 updates arrive as operations, in order, on a concurrent queue`() async {
    queue.maxConcurrentOperationCount = 4
    let source = BroadcastSource<Int>()
    let recorder = Recorder(
      source.publisher.receive(on: queue).map { [queue] number in
        OperationQueue.current === queue ? number : -1
      })

    // More than two jobs deliver.
    let count = 2 * Schedule.patience + 1
    for number in 0..<count { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(count + 1) == Array(0..<count))
    #expect(recorder.hasEnded)
  }

  @Test
  func `R20 canceling releases the update queued on a suspended queue`() {
    queue.isSuspended = true
    let source = BroadcastSource<Thing>()
    let recorder = Recorder(source.publisher.receive(on: queue))
    weak var update: Thing?
    do {
      let thing = Thing()
      update = thing
      source.broadcast(thing)
    }
    #expect(update != nil)

    recorder.invalidate()

    #expect(update == nil)
    #expect(source.subscriberCount == 0)
    // Pending operations retain the queue.
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `R20 subscribe(on:) subscribes in an operation, unless canceled before`()
    async
  {
    queue.isSuspended = true
    let property = PublishedProperty(1)
    let kept = Recorder(property.publisher.subscribe(on: queue))
    let ended = Recorder(property.publisher.subscribe(on: queue))
    ended.invalidate()
    #expect(property.subscriberCount == 0)

    queue.isSuspended = false

    #expect(await kept.next() == [1])
    await queue.addBarrierBlockAndWait()
    #expect(property.subscriberCount == 1)
    #expect(ended.updates == [])
  }

  @Test func `delaySubscription subscribes in an operation after the delay`() async {
    let began = ContinuousClock.now
    let places = Broadcaster<Bool> { [queue] receive in
      receive(OperationQueue.current === queue && ContinuousClock.now - began >= .milliseconds(20))
      return Subscription {}
    }

    let recorder = Recorder(places.delaySubscription(for: .milliseconds(20), on: queue))

    #expect(await recorder.next() == [true])
  }
}

extension OperationQueue {
  fileprivate func addBarrierBlockAndWait() async {
    await withCheckedContinuation { continuation in
      addBarrierBlock { continuation.resume() }
    }
  }
}
