import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

// R6–R8, R11–R13, and R26: cancellation

extension ContractTests {
  @Test func `R6 invalidate stops callbacks, even in the current turn`() {
    let source = BroadcastSource<Int>()
    let victim = Shared<Subscription?>(nil)
    let calls = Shared(0)
    let killer = source.publisher.subscribe { _ in victim.value?.invalidate() }
    victim.value = source.publisher.subscribe { _ in calls.increment() }

    source.broadcast(1)
    source.broadcast(2)

    #expect(calls.value == 0)
    withExtendedLifetime(killer) {}
  }

  @Test func `R6 invalidate in its own callback cancels, subscription retained or not`() {
    let source = BroadcastSource<Int>()
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = source.publisher.subscribe { _ in
      calls.increment()
      subscription.value?.invalidate()
      source.broadcast(2)
    }

    source.broadcast(1)

    #expect(calls.value == 1)
    #expect(subscription.value?.isSubscribed == false)
  }

  @Test func `R6 a composed subscription closes its gate before it cancels its inputs`() {
    let one = BroadcastSource<Int>()
    let calls = Shared(0)
    let witness = Shared<Subscription?>(nil)
    let noisy = Broadcaster<Int> { receive in Subscription { receive(-1) } }
    let subscription = merge(one.publisher, noisy).subscribe { _ in calls.increment() }
    witness.value = subscription

    subscription.invalidate()

    #expect(calls.value == 0)
    #expect(one.subscriberCount == 0)
  }

  @Test func `R7 invalidateAndWait returns when the callback on another thread has returned`() {
    let source = BroadcastSource<Int>()
    let isInside = Gate()
    let events = Shared<[String]>([])
    let subscription = source.publisher.subscribe { _ in
      isInside.open()
      // The other thread is usually waiting by then. The test is valid in any case.
      for _ in 0..<200_000 { _ = events.value.count }
      events.change { $0.append("callback") }
    }
    onThreads(2) { index in
      if index == 0 { return source.broadcast(1) }
      isInside.wait()
      subscription.invalidateAndWait()
      events.change { $0.append("ended") }
    }

    #expect(events.value == ["callback", "ended"])
  }

  @Test func `R7 invalidateAndWait returns immediately inside a turn of the same source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let subscription = Shared<Subscription?>(nil)
      subscription.value = source.publisher.subscribe { _ in subscription.value?.invalidateAndWait()
      }
      source.broadcast(1)
    }
  }

  @Test func `R7 async invalidateAndWait waits for the callback on another thread`() async {
    let source = BroadcastSource<Int>()
    let isInside = Gate()
    let mayContinue = Gate()
    let isDone = Shared(false)
    let subscription = source.publisher.subscribe { _ in
      isInside.open()
      mayContinue.wait()
      isDone.value = true
    }
    let thread = Thread { source.broadcast(1) }
    thread.start()
    isInside.wait()
    async let ended: Void = subscription.invalidateAndWait()
    mayContinue.open()
    await ended

    #expect(isDone.value)
  }

  @Test func `R7 invalidateAndWait waits for onEnd, and returns immediately inside it`() {
    let source = BroadcastSource<Int>()
    let isInside = Gate()
    let events = Shared<[String]>([])
    let subscription = Shared<Subscription?>(nil)
    subscription.value = source.publisher.subscribe { _ in
    } onEnd: {
      isInside.open()
      subscription.value?.invalidateAndWait()
      for _ in 0..<50_000 { _ = events.value.count }
      events.change { $0.append("onEnd") }
    }
    onThreads(2) { index in
      if index == 0 { return source.end() }
      isInside.wait()
      subscription.value?.invalidateAndWait()
      events.change { $0.append("ended") }
    }

    #expect(events.value == ["onEnd", "ended"])
  }

  @Test func `R8 cancellation is idempotent and thread-safe`() {
    let ends = Shared(0)
    let token = Subscription { ends.increment() }
    let source = BroadcastSource<Int>()
    let releases = Shared(0)
    let witness = Shared<Witness?>(Witness { releases.increment() })
    let subscription = source.publisher.subscribe { [held = witness.value] _ in held?.touch() }
    witness.value = nil

    onThreads(4) { _ in
      for _ in 0..<100 {
        token.invalidate()
        subscription.invalidate()
      }
    }

    #expect(ends.value == 1)
    #expect(releases.value == 1)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R8 cancellation waits for no callback, body, or queue`() {
    let property = PublishedProperty(0)
    let isInside = Gate()
    let mayContinue = Gate()
    let callback = property.publisher.subscribe { number in
      if number == 0 { return }
      isInside.open()
      mayContinue.wait()
    }
    let other = property.publisher.subscribe { _ in }
    let inBody = Gate()
    onThreads(3) { index in
      switch index {
      case 0:
        property.value = 1
      case 1:
        isInside.wait()
        property.modify { _ in
          inBody.open()
          mayContinue.wait()
        }
      default:
        inBody.wait()
        other.invalidate()
        callback.invalidate()
        mayContinue.open()
      }
    }

    #expect(!callback.isSubscribed)
    #expect(!other.isSubscribed)
  }

  @Test func `R11 invalidate releases the callback before it returns`() {
    let source = BroadcastSource<Int>()
    weak var captured: Thing?
    let subscription = {
      let thing = Thing()
      captured = thing
      return source.publisher.map { $0 }.subscribe { _ in withExtendedLifetime(thing) {} }
    }()
    #expect(captured != nil)

    subscription.invalidate()

    #expect(captured == nil)
  }

  @Test func `R11 during a turn, the delivering thread releases the callback by its end`() {
    let source = BroadcastSource<Int>()
    let releasedOn = Shared<ThreadID?>(nil)
    let wasReleasedInside = Shared<Bool?>(nil)
    let subscription = Shared<Subscription?>(nil)
    subscription.value = {
      let witness = Witness { releasedOn.value = .current }
      return source.publisher.subscribe { _ in
        withExtendedLifetime(witness) {
          subscription.value?.invalidate()
          wasReleasedInside.value = releasedOn.value != nil
        }
      }
    }()
    let deliverer = Shared<ThreadID?>(nil)
    onThread {
      deliverer.value = .current
      source.broadcast(1)
    }

    #expect(wasReleasedInside.value == false)
    #expect(releasedOn.value != nil)
    #expect(releasedOn.value == deliverer.value)
  }

  @Test func `R12 releasing the subscription cancels it`() {
    let source = BroadcastSource<Int>()
    let calls = Shared(0)
    var subscription: Subscription? = source.publisher.subscribe { _ in calls.increment() }
    source.broadcast(1)
    withExtendedLifetime(subscription) {}

    subscription = nil
    source.broadcast(2)

    #expect(calls.value == 1)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R12 releasing the last reference inside its own callback cancels`() {
    let source = BroadcastSource<Int>()
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = source.publisher.subscribe { _ in
      calls.increment()
      subscription.value = nil
    }

    source.broadcast(1)
    source.broadcast(2)

    #expect(calls.value == 1)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R12 detached and subscribeOnce retain their subscription`() {
    let source = BroadcastSource<Int>()
    let detached = Shared<[Int]>([])
    let once = Shared<[Int]>([])
    source.publisher.subscribe { number in detached.change { $0.append(number) } }.detached()
    source.publisher.subscribeOnce { number in once.change { $0.append(number) } }

    source.broadcast(1)
    source.broadcast(2)

    #expect(detached.value == [1, 2])
    #expect(once.value == [1])
    #expect(source.subscriberCount == 1)
    source.end()
    #expect(source.subscriberCount == 0)
  }

  @Test func `R12 subscribeOnce emits a current value inside the call`() {
    let once = Shared<[Int]>([])

    PublishedProperty(7).publisher.subscribeOnce { number in once.change { $0.append(number) } }

    #expect(once.value == [7])
  }

  @Test
  func `R13 a deallocated source delivers its queue, then finishes`() {
    let events = Shared<[String]>([])
    let source = Shared<BroadcastSource<Int>?>(BroadcastSource())
    let publisher = source.value.map(\.publisher) ?? .never
    weak var captured: Thing?
    let subscription = {
      let thing = Thing()
      captured = thing
      return publisher.subscribe { number in
        withExtendedLifetime(thing) { events.change { $0.append("\(number)") } }
        if number == 1 {
          source.value?.broadcast(2)
          source.value = nil
        }
      }
    }()

    let sender = source.value
    sender?.broadcast(1)
    _ = consume sender

    #expect(events.value == ["1", "2"])
    #expect(!subscription.isSubscribed)
    #expect(captured == nil)
    subscription.invalidate()
  }

  @Test
  func
    `R13 after end, sends reach no subscriber, and a broadcaster returns an ended subscription`()
  {
    let source = BroadcastSource<Int>()
    let early = Recorder(source.publisher)
    source.end()

    source.broadcast(1)
    let late = Recorder(source.publisher)
    source.broadcast(2)
    source.end()

    #expect(early.updates == [])
    #expect(late.updates == [])
    #expect(!early.isSubscribed && !late.isSubscribed)
    #expect(early.hasEnded && late.hasEnded)
  }

  @Test func `R13 a finished published value emits its last value once`() {
    let property = PublishedProperty(1)
    let early = Recorder(property.publisher)
    property.end()
    property.value = 2

    let late = Recorder(property.publisher)
    property.value = 3

    #expect(early.updates == [1])
    #expect(late.updates == [2])
    #expect(!late.isSubscribed)
    #expect(property.value == 3)
  }

  @Test func `R13 a publisher retains the value but not the source, a subscription neither`() {
    weak var source: PublishedProperty<Thing>?
    weak var value: Thing?
    var publisher: PublishedValue<Thing>?
    var subscription: Subscription?
    do {
      let property = PublishedProperty(Thing())
      source = property
      value = property.value
      publisher = property.publisher
      subscription = property.publisher.subscribe { _ in }
    }

    #expect(source == nil)
    #expect(value != nil)
    #expect(subscription?.isSubscribed == false)
    publisher = nil
    #expect(value == nil)
    withExtendedLifetime((publisher, subscription)) {}
  }

  @Test func `R26 onEnd runs once, after the last update`() {
    let source = BroadcastSource<Int>()
    let events = Shared<[String]>([])
    let subscription = source.publisher.subscribe { number in
      events.change { $0.append("\(number)") }
      if number == 1 {
        source.broadcast(2)
        source.end()
      }
    } onEnd: {
      events.change { $0.append("end") }
    }

    source.broadcast(1)
    source.end()

    #expect(events.value == ["1", "2", "end"])
    #expect(!subscription.isSubscribed)
  }

  @Test func `R26 onEnd never runs after invalidate`() {
    let source = BroadcastSource<Int>()
    let ends = Shared(0)
    let subscription = source.publisher.subscribe { _ in
    } onEnd: {
      ends.increment()
    }

    subscription.invalidate()
    source.end()

    #expect(ends.value == 0)
  }

  @Test func `R26 every operator propagates completion`() {
    let source = BroadcastSource<Int>()
    let property = PublishedProperty(0)
    let publisher = source.publisher
    let recorders: [(String, Recorder<Int>)] = [
      ("map", Recorder(publisher.map { $0 })),
      ("map of a value", Recorder(property.publisher.map { $0 })),
      ("filter", Recorder(publisher.filter { _ in true })),
      ("compactMap", Recorder(publisher.compactMap { $0 })),
      ("removeDuplicates", Recorder(publisher.removeDuplicates())),
      ("removeDuplicates by", Recorder(publisher.removeDuplicates { $0 == $1 })),
      ("scan", Recorder(publisher.scan(0) { $0 + $1 })),
      ("prefix", Recorder(publisher.prefix(5))),
      ("dropFirst", Recorder(publisher.dropFirst())),
      ("broadcaster", Recorder(property.publisher.broadcaster)),
      ("publishedValue", Recorder(publisher.publishedValue(initial: 0))),
      ("init(initial:changes:)", Recorder(PublishedValue(initial: { 0 }, changes: publisher))),
      ("init", Recorder(Broadcaster<Int> { publisher.subscribe($0) })),
    ]
    for (name, recorder) in recorders { #expect(!recorder.hasEnded, "\(name)") }

    source.end()
    property.end()

    for (name, recorder) in recorders {
      #expect(recorder.hasEnded, "\(name)")
      #expect(!recorder.isSubscribed, "\(name)")
    }
  }

  @Test func `R26 merge and combineLatest finish when all inputs have finished`() {
    let one = PublishedProperty(1)
    let two = PublishedProperty(2)
    let merged = Recorder(merge(one.publisher, two.publisher))
    let combined = Recorder(combineLatest(one.publisher, two.publisher) { $0 + $1 })

    one.end()
    two.value = 3
    #expect(!merged.hasEnded && !combined.hasEnded)
    two.end()

    #expect(merged.updates == [1, 2, 3])
    #expect(combined.updates == [3, 4])
    #expect(merged.hasEnded && combined.hasEnded)
    #expect(!merged.isSubscribed && !combined.isSubscribed)
  }

  @Test func `R26 prefix finishes when it has enough, and releases its source`() {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.prefix(2))

    source.broadcast(1)
    #expect(!recorder.hasEnded)
    source.broadcast(2)
    source.broadcast(3)

    #expect(recorder.updates == [1, 2])
    #expect(recorder.hasEnded)
    #expect(source.subscriberCount == 0)
  }
}
