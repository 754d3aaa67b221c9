import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct OperationQueueTests {
  let queue = OperationQueue()

  @Test func `R20 updates arrive in operations, in order, though many run at once`() async {
    queue.maxConcurrentOperationCount = 4
    let source = BroadcastSource<Int>()
    let recorder = Recorder(
      source.publisher.receive(on: queue).map { [queue] number in
        OperationQueue.current === queue ? number : -1
      })

    for number in 0..<1_000 { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(1_001) == Array(0..<1_000))
    #expect(recorder.hasEnded)
  }

  @Test
  func `R20 ending before the hop releases the update, though the queue is suspended for ever`() {
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
    // Operations that wait for ever would keep the queue.
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `R20 upstream is subscribed to in an operation, unless the subscription ends before`()
    async
  {
    queue.isSuspended = true
    let property = PublishedProperty(1)
    let kept = Recorder(property.publisher.subscribe(upstreamOn: queue))
    let ended = Recorder(property.publisher.subscribe(upstreamOn: queue))
    ended.invalidate()
    #expect(property.subscriberCount == 0)

    queue.isSuspended = false

    #expect(await kept.next() == [1])
    await queue.addBarrierBlockAndWait()
    #expect(property.subscriberCount == 1)
    #expect(ended.updates == [])
  }

  @Test func `upstream is subscribed to in an operation after a while`() async {
    let began = ContinuousClock.now
    let places = Broadcaster<Bool> { [queue] receive in
      receive(OperationQueue.current === queue && ContinuousClock.now - began >= .milliseconds(20))
      return Subscription {}
    }

    let recorder = Recorder(places.subscribe(upstreamAfter: .milliseconds(20), on: queue))

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
