import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct SubscribeTests {
  @Test func `withSubscription subscribes for the duration of its closure`() async {
    let source = BroadcastSource<Int>()
    let seen = Shared<[Int]>([])

    withSubscription(source.publisher, { number in seen.change { $0.append(number) } }) {
      source.broadcast(1)
    }
    source.broadcast(2)
    let result = await withSubscription(
      source.publisher, { number in seen.change { $0.append(number) } }
    ) {
      await Task.yield()
      source.broadcast(3)
      return "done"
    }
    source.broadcast(4)

    #expect(seen.value == [1, 3])
    #expect(result == "done")
    #expect(source.subscriberCount == 0)
  }

  @Test func `a progressive task is followed without its result by failure nil`() {
    struct Broken: Error {}
    let source = ProgressiveTaskSource<Int, String, Broken>()
    let seen = Shared<[Int]>([])
    let subscription = source.publisher.subscribe(failure: nil) { seen.append($0) }

    source.report(1)
    source.report(2)
    source.finish(.failure(Broken()))

    #expect(seen.value == [1, 2])
    #expect(!subscription.isSubscribed)
  }

  @Test func `subscribe weakly does not retain its owner`() {
    let source = BroadcastSource<Int>()
    let seen = Shared<[Int]>([])
    var owner: Thing? = Thing()
    weak let observed = owner
    let subscription = owner.map { owner in
      source.publisher.subscribe(weakly: owner) { _, number in seen.change { $0.append(number) } }
    }
    source.broadcast(1)

    owner = nil
    #expect(observed == nil)
    source.broadcast(2)

    #expect(seen.value == [1])
    #expect(subscription?.isSubscribed == false)
    #expect(source.subscriberCount == 0)
  }

  @Test func `subscribe weakly ends when its owner is deallocated, before the next update`() {
    let source = BroadcastSource<Int>()
    var owner: Thing? = Thing()
    let bag = SubscriptionBag()
    let subscription = owner.map { source.publisher.subscribe(weakly: $0) { _, _ in } }
    subscription?.store(in: bag)
    let wasSubscribed = subscription?.isSubscribed

    owner = nil

    #expect(wasSubscribed == true)
    #expect(subscription?.isSubscribed == false)
    #expect(bag.count == 0)
    subscription?.invalidateAndWait()
    #expect(source.subscriberCount == 0)
  }

  @Test func `the initial closure is released after its call`() {
    let property = PublishedProperty(1)
    var thing: Thing? = Thing()
    weak let observed = thing

    let subscription = property.publisher.subscribe { [thing] _ in
      withExtendedLifetime(thing) {}
    } updates: { _ in
    }
    thing = nil

    #expect(observed == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test func `subscribe with updates separates the first value from the changes`() {
    let property = PublishedProperty(1)
    let first = Shared<[Int]>([])
    let later = Shared<[Int]>([])
    let subscription = property.publisher.subscribe { number in
      first.change { $0.append(number) }
    } updates: { number in
      later.change { $0.append(number) }
    }

    property.value = 2
    property.value = 3

    #expect(first.value == [1])
    #expect(later.value == [2, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a released or invalidated bag cancels its subscriptions`() {
    let source = BroadcastSource<Int>()
    var bag: SubscriptionBag? = SubscriptionBag()
    for _ in 0..<3 { bag.map { source.publisher.subscribe { _ in }.store(in: $0) } }
    #expect(bag?.count == 3)

    bag = nil
    #expect(source.subscriberCount == 0)

    let ended = SubscriptionBag()
    ended.invalidate()
    source.publisher.subscribe { _ in }.store(in: ended)
    #expect(source.subscriberCount == 0)
    #expect(ended.count == 0)
  }

  @Test func `a subscription made of a closure runs it once, when canceled or released`() {
    let stops = Shared(0)
    var subscription: Subscription? = Subscription { stops.increment() }
    #expect(subscription?.isSubscribed == true)
    subscription?.invalidateAndWait()
    #expect(subscription?.isSubscribed == false)
    subscription = nil
    #expect(stops.value == 1)

    _ = Subscription { stops.increment() }
    #expect(stops.value == 2)
  }

  @Test func `the property wrapper exposes the value and its publisher`() {
    struct Thermostat {
      @PublishedProperty var target = 20
    }
    let thermostat = Thermostat()
    let recorder = Recorder(thermostat.$target)

    thermostat.target = 21
    thermostat.target += 1

    #expect(recorder.updates == [20, 21, 22])
  }

  @Test func `current returns the value that a new subscriber receives first`() {
    let property = PublishedProperty(3)
    let other = PublishedProperty("a")

    #expect(property.publisher.map { $0 * 2 }.current() == 6)
    #expect(combineLatest(property.publisher, other.publisher).current()?.1 == "a")
    #expect(PublishedValue(initial: { 1 }, changes: .never).current() == 1)
  }
}
