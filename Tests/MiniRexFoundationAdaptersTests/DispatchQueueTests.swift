import Dispatch
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct DispatchQueueTests {
  let queue = DispatchQueue(label: "test")

  @Test func `R20 updates arrive on the queue in order, the end behind them`() async {
    let source = BroadcastSource<Int>()
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let recorder = Recorder(
      source.publisher.receive(on: queue).map { number in
        DispatchQueue.getSpecific(key: key) == true ? number : -1
      })

    for number in 0..<1_000 { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(1_001) == Array(0..<1_000))
    #expect(recorder.hasEnded)
  }

  @Test
  func
    `R20 ending before the hop prevents the call and releases the update, though the queue never runs`()
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

  @Test func `R22 a bounded hop keeps the newest, and a token counts all of its hops`() async {
    let source = BroadcastSource<Int>()
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let hopped = source.publisher.receive(on: suspended, buffering: .bufferingNewest(2))
    let recorder = Shared<[Int]>([])
    let token = merge(hopped, source.publisher.receive(on: suspended)).map { $0 }
      .receive(on: queue).subscribe({ number in recorder.change { $0.append(number) } }, onEnd: {})

    for number in 1...5 { source.broadcast(number) }

    #expect(token.pendingUpdates == 2 + 5 && token.droppedCount == 3)
    suspended.resume()
    while recorder.value.count < 7 { await Task.yield() }
    #expect(recorder.value.filter { $0 > 3 }.count == 4)
    #expect(token.pendingUpdates == 0 && token.droppedCount == 3)
  }

  @Test func `R17 R28 a published value that came back is no change behind a bounded hop`() async {
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

  @Test func `R28 a published value stays one, with its first call late`() async {
    let property = PublishedProperty(1)
    let value: PublishedValue<Int> = property.publisher.receive(on: queue)
    #expect(value.current() == nil)

    let recorder = Recorder(value)
    property.value = 2

    #expect(await recorder.next(2) == [1, 2])
  }

  @Test func `R20 upstream is subscribed to on the queue`() async {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let there = Broadcaster<Bool> { receive in
      receive(DispatchQueue.getSpecific(key: key) == true)
      return Subscription {}
    }

    let recorder = Recorder(there.subscribe(upstreamOn: queue))

    #expect(await recorder.next() == [true])
  }

  @Test func `R28 a published value that is subscribed to on a queue gives the value current then`()
    async
  {
    let property = PublishedProperty(1)
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let value: PublishedValue<Int> = property.publisher.subscribe(upstreamOn: suspended)
    #expect(value.current() == nil)
    let recorder = Recorder(value)

    property.value = 2
    suspended.resume()

    #expect(await recorder.next() == [2])
    property.value = 3
    #expect(await recorder.next() == [3])
  }

  @Test
  func `R20 ending before the queue runs never subscribes, and releases publisher and callback`() {
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let released = Shared(0)
    let source = BroadcastSource<Int>()
    let token: Subscription
    do {
      let upstream = Witness { released.change { $0 += 1 } }
      let callback = Witness { released.change { $0 += 1 } }
      let publisher = source.publisher.map { number in
        upstream.touch()
        return number
      }
      token = publisher.subscribe(upstreamOn: suspended).subscribe { _ in callback.touch() }
    }
    #expect(token.isSubscribed)
    #expect(released.value == 0)

    token.invalidate()

    #expect(!token.isSubscribed)
    #expect(released.value == 2)
    suspended.resume()
    suspended.sync {}
    #expect(source.subscriberCount == 0)
  }

  @Test func `R6 ending while the queue subscribes stops what is still called there`() {
    let token = Shared<Subscription?>(nil)
    let calls = Shared<[Int]>([])
    let released = Gate()
    let witness = Shared<Witness?>(Witness { released.open() })
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    token.value = Broadcaster.sequence(Array(0..<100)).subscribe(upstreamOn: suspended).subscribe {
      [witness = witness.value] number in
      witness?.touch()
      calls.change { $0.append(number) }
      if number == 1 { token.value?.invalidate() }
    }
    witness.value = nil

    suspended.resume()
    released.wait()

    #expect(calls.value == [0, 1])
    #expect(token.value?.isSubscribed == false)
  }

  @Test func `R13 the end of upstream ends the subscription that a queue has made`() async {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.subscribe(upstreamOn: queue))
    queue.sync {}
    source.broadcast(1)

    source.end()

    #expect(await recorder.next(2) == [1])
    #expect(recorder.hasEnded)
    #expect(!recorder.isSubscribed)
  }

  @Test func `upstream is subscribed to after a while, but not before`() async {
    let began = ContinuousClock.now
    let instants = Broadcaster<ContinuousClock.Instant> { receive in
      receive(.now)
      return Subscription {}
    }

    let recorder = Recorder(
      instants.subscribe(upstreamAfter: .milliseconds(20), on: queue))

    let instant = await recorder.next().first
    #expect(instant.map { $0 - began >= .milliseconds(20) } == true)
  }

  @Test func `R20 a subscription that ends before its time has come is never made`() {
    let source = BroadcastSource<Int>()
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let token = source.publisher.subscribe(upstreamAfter: .seconds(1 << 60), on: queue)
        .subscribe { _ in witness.touch() }
      #expect(token.isSubscribed)
    }

    #expect(isReleased.value)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R23 a negative duration stops the program with advice`() async {
    await #expect(processExitsWith: .failure) {
      _ = Broadcaster<Int>.never.subscribe(
        upstreamAfter: .seconds(-1), on: DispatchQueue(label: "test"))
    }
  }

  @Test func `R20 nothing stays subscribed of what ends before its queue runs`() {
    let count = scaled(10_000)
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let source = BroadcastSource<Int>()
    let calls = Shared(0)
    let bag = SubscriptionBag()
    for index in 0..<count {
      let publisher =
        index.isMultiple(of: 2)
        ? source.publisher.subscribe(upstreamOn: suspended)
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
