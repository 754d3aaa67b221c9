import MiniRex
import TestSupport
import Testing

@Suite(.light) struct SubscriptionBagTests {
  @Test func `a bag does not retain a subscription that has already ended`() {
    let source = BroadcastSource<Int>()
    let bag = SubscriptionBag()
    var subscription: Subscription? = source.publisher.subscribe { _ in }
    weak let observed = subscription
    subscription?.invalidate()

    subscription?.store(in: bag)
    subscription = nil

    #expect(observed == nil)
  }

  @Test func `R26 a bag removes ended subscriptions only after their onEnd`() {
    let source = BroadcastSource<Int>()
    let ends = Shared(0)
    let bag = SubscriptionBag()
    // All subscriptions end together. The first `onEnd` makes the bag look for ended subscriptions.
    for _ in 0..<15 {
      source.publisher.subscribe { _ in
      } onEnd: { [unowned bag] in
        if ends.increment() == 1 { bag.store(Subscription {}) }
      }.store(in: bag)
    }

    source.end()

    #expect(ends.value == 15)
    #expect(bag.count == 1)
  }
}
