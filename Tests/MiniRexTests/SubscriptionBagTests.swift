import MiniRex
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct SubscriptionBagTests {
  @Test func `a bag does not keep a token that had ended before`() {
    let source = BroadcastSource<Int>()
    let bag = SubscriptionBag()
    var token: Subscription? = source.publisher.subscribe { _ in }
    weak let observed = token
    token?.invalidate()

    token?.store(in: bag)
    token = nil

    #expect(observed == nil)
  }

  @Test func `R26 a bag that drops what has ended lets it hear of the end first`() {
    let source = BroadcastSource<Int>()
    let ends = Shared(0)
    let bag = SubscriptionBag()
    // All end at once, and are told one by one: the first makes the bag look for ended tokens.
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
