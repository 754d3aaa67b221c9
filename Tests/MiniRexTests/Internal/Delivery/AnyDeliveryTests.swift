import MiniRex
import TestSupport
import Testing

@Suite(.light) struct AnyDeliveryTests {
  @Test func `R11 between two turns, the canceling thread releases the callback immediately`() {
    let source = BroadcastSource<Int>()
    let log = ReleaseLog()
    let bag = SubscriptionBag()
    let other = subscribe(to: source) {
    } onRelease: {
      log.append(2)
    }
    subscribe(to: source) { [weak bag] in
      bag?.invalidate()
    } onRelease: {
      // The turn is over, and the delivering thread stays here until the other thread is done.
      onThreads(1) { _ in
        other.invalidate()
        log.append(log.released == [2] ? 3 : 0)
      }
    }
    .store(in: bag)

    source.broadcast(1)

    #expect(log.released == [2, 3])
    #expect(source.subscriberCount == 0)
  }

  private func subscribe(
    to source: BroadcastSource<Int>, _ receive: @escaping @Sendable () -> Void,
    onRelease: @escaping @Sendable () -> Void
  ) -> Subscription {
    let sentinel = Sentinel(onRelease)
    return source.publisher.subscribe { _ in withExtendedLifetime(sentinel) { receive() } }
  }
}
