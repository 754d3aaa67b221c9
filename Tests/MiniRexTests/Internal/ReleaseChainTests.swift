import MiniRex
import TestSupport
import Testing

@Suite struct ReleaseChainTests {
  @Test func `100,000 tokens whose callbacks own the next are released on 512 KiB of stack`() async
  {
    await #expect(processExitsWith: .success) {
      mustEnd(within: 60)
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(chain(of: scaled(100_000), to: source))

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(source.subscriberCount == 0)
    }
  }

  @Test func `a chain of tokens is released on 512 KiB of stack by a turn, too`() async {
    await #expect(processExitsWith: .success) {
      mustEnd(within: 60)
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(nil)
      let subscription = source.publisher.subscribe { _ in first.value = nil }
      first.value = chain(of: scaled(100_000), to: source)

      onThread(stackSize: 512 * 1_024) { source.broadcast(1) }

      precondition(source.subscriberCount == 1)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `100,000 sources that forward to the next are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd(within: 60)
      let ends = Shared(0)
      var tokens: [Subscription] = []
      var source = BroadcastSource<Int>()
      tokens.append(
        source.publisher.subscribe { _ in
        } onEnd: {
          ends.increment()
        })
      for _ in 1..<scaled(100_000) {
        let next = source
        source = BroadcastSource()
        tokens.append(source.publisher.subscribe { next.broadcast($0) })
      }
      let first = Shared<BroadcastSource<Int>?>(source)
      source = BroadcastSource()

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == 1)
      precondition(tokens.allSatisfy { !$0.isSubscribed })
    }
  }

  @Test func `100,000 properties whose callbacks own the next are released on 512 KiB of stack`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd(within: 60)
      let bag = SubscriptionBag()
      var property = PublishedProperty(0)
      for _ in 1..<scaled(100_000) {
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

  @Test func `R11 a few releases deep the callback is still released before invalidate returns`() {
    let source = BroadcastSource<Int>()
    let log = ReleaseLog()
    var token = source.publisher.subscribe { _ in }
    for number in 1...UInt(10) {
      let next = token
      let sentinel = Sentinel {
        next.invalidate()
        log.append(number)
      }
      token = source.publisher.subscribe { _ in withExtendedLifetime(sentinel) {} }
    }

    token.invalidate()

    #expect(log.released == Array(1...10))
    #expect(source.subscriberCount == 0)
  }
}

/// The first of so many tokens, each but the last of which owns the next.
private func chain(of count: Int, to source: BroadcastSource<Int>) -> Subscription {
  var first = source.publisher.subscribe { _ in }
  for _ in 1..<count {
    let next = first
    first = source.publisher.subscribe { _ in withExtendedLifetime(next) {} }
  }
  return first
}
