import Dispatch
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DispatchQueueTests {
  let queue = DispatchQueue(label: "test")

  @Test func `R20 updates arrive on the queue in order, followed by completion`() async {
    let source = BroadcastSource<Int>()
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let recorder = Recorder(
      source.publisher.receive(on: queue).map { number in
        DispatchQueue.getSpecific(key: key) == true ? number : -1
      })

    // More than two jobs deliver.
    let count = 2 * Schedule.patience + 1
    for number in 0..<count { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(count + 1) == Array(0..<count))
    #expect(recorder.hasEnded)
  }

  @Test
  func
    `R20 canceling prevents the queued callback and releases its update`()
  {
    final class Thing: Sendable {}
    let source = BroadcastSource<Thing>()
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let recorder = Recorder(source.publisher.receive(on: suspended))
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
    suspended.resume()
  }

  @Test func `R22 a bounded queue keeps the newest, and the subscription counts all its buffers`()
    async
  {
    let source = BroadcastSource<Int>()
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let hopped = source.publisher.receive(on: suspended, buffering: .bufferingNewest(2))
    let recorder = Shared<[Int]>([])
    let subscription = merge(hopped, source.publisher.receive(on: suspended)).map { $0 }
      .receive(on: queue).subscribe({ number in recorder.change { $0.append(number) } }, onEnd: {})

    for number in 1...5 { source.broadcast(number) }

    #expect(subscription.pendingUpdates == 2 + 5 && subscription.droppedCount == 3)
    suspended.resume()
    await until { recorder.value.count >= 7 }
    #expect(recorder.value.filter { $0 > 3 }.count == 4)
    #expect(subscription.pendingUpdates == 0 && subscription.droppedCount == 3)
  }

  @Test func `R17 R28 receive(on:) with a bound skips a value that changed back`() async {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher.receive(on: queue, buffering: .bufferingNewest(1)))
    #expect(await recorder.next(1) == [1])

    queue.suspend()
    for number in [2, 1] { property.value = number }
    queue.resume()
    queue.sync {}
    property.value = 3

    #expect(await recorder.next(1) == [3])
    #expect(recorder.updates == [1, 3])
  }

  @Test func `R28 receive(on:) keeps a published value, with an asynchronous first value`() async {
    let property = PublishedProperty(1)
    let value: PublishedValue<Int> = property.publisher.receive(on: queue)
    #expect(value.current() == nil)

    let recorder = Recorder(value)
    property.value = 2

    #expect(await recorder.next(2) == [1, 2])
  }

  @Test func `R20 subscribe(on:) subscribes on the queue`() async {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let there = Broadcaster<Bool> { receive in
      receive(DispatchQueue.getSpecific(key: key) == true)
      return Subscription {}
    }

    let recorder = Recorder(there.subscribe(on: queue))

    #expect(await recorder.next() == [true])
  }

  @Test func `R28 subscribe(on:) emits the value current when the queue runs`()
    async
  {
    let property = PublishedProperty(1)
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let value: PublishedValue<Int> = property.publisher.subscribe(on: suspended)
    #expect(value.current() == nil)
    let recorder = Recorder(value)

    property.value = 2
    suspended.resume()

    #expect(await recorder.next() == [2])
    property.value = 3
    #expect(await recorder.next() == [3])
  }

  @Test
  func `R20 canceling before the queue runs releases publisher and callback, unsubscribed`() {
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let released = Shared(0)
    let source = BroadcastSource<Int>()
    let subscription: Subscription
    do {
      let upstream = Witness { released.change { $0 += 1 } }
      let callback = Witness { released.change { $0 += 1 } }
      let publisher = source.publisher.map { number in
        upstream.touch()
        return number
      }
      subscription = publisher.subscribe(on: suspended).subscribe { _ in callback.touch() }
    }
    #expect(subscription.isSubscribed)
    #expect(released.value == 0)

    subscription.invalidate()

    #expect(!subscription.isSubscribed)
    #expect(released.value == 2)
    suspended.resume()
    suspended.sync {}
    #expect(source.subscriberCount == 0)
  }

  @Test func `R6 canceling inside the upstream subscription stops its further callbacks`() {
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared<[Int]>([])
    let released = Gate()
    let witness = Shared<Witness?>(Witness { released.open() })
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    subscription.value = Broadcaster.sequence(Array(0..<100)).subscribe(on: suspended).subscribe {
      [witness = witness.value] number in
      witness?.touch()
      calls.change { $0.append(number) }
      if number == 1 { subscription.value?.invalidate() }
    }
    witness.value = nil

    suspended.resume()
    released.wait()

    #expect(calls.value == [0, 1])
    #expect(subscription.value?.isSubscribed == false)
  }

  @Test func `R13 subscribe(on:) finishes when upstream finishes`() async {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.subscribe(on: queue))
    queue.sync {}
    source.broadcast(1)

    source.end()

    #expect(await recorder.next(2) == [1])
    #expect(recorder.hasEnded)
    #expect(!recorder.isSubscribed)
  }

  @Test func `delaySubscription subscribes after the delay, not before`() async {
    let began = ContinuousClock.now
    let instants = Broadcaster<ContinuousClock.Instant> { receive in
      receive(.now)
      return Subscription {}
    }

    let recorder = Recorder(
      instants.delaySubscription(for: .milliseconds(20), on: queue))

    let instant = await recorder.next().first
    #expect(instant.map { $0 - began >= .milliseconds(20) } == true)
  }

  @Test func `R20 delaySubscription never subscribes if canceled before the delay ends`() {
    let source = BroadcastSource<Int>()
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let subscription = source.publisher.delaySubscription(for: .seconds(1 << 60), on: queue)
        .subscribe { _ in witness.touch() }
      #expect(subscription.isSubscribed)
    }

    #expect(isReleased.value)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R23 a negative duration traps with advice`() async {
    await #expect(processExitsWith: .failure) {
      _ = Broadcaster<Int>.never.delaySubscription(
        for: .seconds(-1), on: DispatchQueue(label: "test"))
    }
  }

  @Test func `R20 canceling before the queue runs leaves no upstream subscription`() {
    let count = scaled(10_000)
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let source = BroadcastSource<Int>()
    let calls = Shared(0)
    let bag = SubscriptionBag()
    for index in 0..<count {
      let publisher =
        index.isMultiple(of: 2)
        ? source.publisher.subscribe(on: suspended)
        : source.publisher.receive(on: suspended)
      publisher.subscribe { _ in calls.change { $0 += 1 } }.store(in: bag)
    }
    source.broadcast(1)

    bag.invalidate()
    suspended.resume()
    suspended.sync {}

    #expect(source.subscriberCount == 0)
    #expect(calls.value == 0)
    source.broadcast(2)
    suspended.sync {}
    #expect(calls.value == 0)
  }
}
