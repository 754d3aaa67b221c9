import MiniRex
import TestSupport
import Testing

@Suite(.light) struct ReleaseChainTests {
  @Test func `10,000 nested subscriptions are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(chain(of: chainSteps(overflowingDepth), to: source))

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(source.subscriberCount == 0)
    }
  }

  @Test func `a turn releases 10,000 nested subscriptions on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(nil)
      let subscription = source.publisher.subscribe { _ in first.value = nil }
      first.value = chain(of: chainSteps(overflowingDepth), to: source)

      onThread(stackSize: 512 * 1_024) { source.broadcast(1) }

      precondition(source.subscriberCount == 1)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `10,000 forwarding sources are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let ends = Shared(0)
      var subscriptions: [Subscription] = []
      var source = BroadcastSource<Int>()
      subscriptions.append(
        source.publisher.subscribe { _ in
        } onEnd: {
          ends.increment()
        })
      for _ in 1..<chainSteps(overflowingDepth) {
        let next = source
        source = BroadcastSource()
        subscriptions.append(source.publisher.subscribe { next.broadcast($0) })
      }
      let first = Shared<BroadcastSource<Int>?>(source)
      source = BroadcastSource()

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == 1)
      precondition(subscriptions.allSatisfy { !$0.isSubscribed })
    }
  }

  @Test func `10,000 forwarding properties are released on 512 KiB of stack`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let bag = SubscriptionBag()
      var property = PublishedProperty(0)
      for _ in 1..<chainSteps(overflowingDepth) {
        let next = property
        property = PublishedProperty(0)
        property.publisher.subscribe { next.value = $0 }.store(in: bag)
      }
      let first = Shared<PublishedProperty<Int>?>(property)
      property = PublishedProperty(0)

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(bag.count == 0)
    }
  }

  @Test func `10,000 nested main-actor subscriptions are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let subscription = Shared(source.publisher.subscribe { _ in })
      await MainActor.run {
        for _ in 1..<chainSteps(overflowingDepth) {
          let next = subscription.value
          subscription.value = source.publisher.subscribeOnMain { _ in withExtendedLifetime(next) {}
          }
        }
      }
      let first = Shared<Subscription?>(subscription.value)
      subscription.value = .ended

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(source.subscriberCount == 0)
    }
  }

  @Test func `R11 invalidate releases the callback before it returns, a few releases deep`() {
    let source = BroadcastSource<Int>()
    let log = ReleaseLog()
    var subscription = source.publisher.subscribe { _ in }
    // A sanitizer's frames of one release can exceed the stack for nested releases.
    let depth: UInt = scale < 1 ? 1 : 10
    for number in 1...depth {
      let next = subscription
      let sentinel = Sentinel {
        next.invalidate()
        log.append(number)
      }
      subscription = source.publisher.subscribe { _ in withExtendedLifetime(sentinel) {} }
    }

    subscription.invalidate()

    #expect(log.released == Array(1...depth))
    #expect(source.subscriberCount == 0)
  }
}

/// Returns the first of `count` subscriptions.
///
/// Each one owns the next.
private func chain(of count: Int, to source: BroadcastSource<Int>) -> Subscription {
  var first = source.publisher.subscribe { _ in }
  for _ in 1..<count {
    let next = first
    first = source.publisher.subscribe { _ in withExtendedLifetime(next) {} }
  }
  return first
}
