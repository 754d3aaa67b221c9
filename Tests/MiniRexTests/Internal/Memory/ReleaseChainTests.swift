import MiniRex
import TestSupport
import Testing

@Suite(.light) struct ReleaseChainTests {
  @Test func `10,000 nested subscriptions are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(chain(of: scaled(overflowingDepth), to: source))

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
      first.value = chain(of: scaled(overflowingDepth), to: source)

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
      for _ in 1..<scaled(overflowingDepth) {
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
      for _ in 1..<scaled(overflowingDepth) {
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
        for _ in 1..<scaled(overflowingDepth) {
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

  @Test(arguments: Owner.allCases)
  private func `10,000 subscriptions with any kind of owner are released on 512 KiB of stack`(
    owner: Owner
  ) async {
    await #expect(processExitsWith: .success) { [owner] in
      mustEnd()
      let ends = Shared(0)
      let keeper = Keeper()
      let first = Shared<Subscription?>(nil)
      for _ in 0..<scaled(overflowingDepth) {
        let link = Link(next: first.value) { ends.increment() }
        first.value = owner.subscription(keeping: link, keeper)
      }

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == scaled(overflowingDepth))
      keeper.actor.run()
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

/// An object that retains the next subscription, and runs a closure in `deinit`.
private final class Link: Sendable {
  private let next: Subscription?
  private let onRelease: @Sendable () -> Void

  init(next: Subscription?, onRelease: @escaping @Sendable () -> Void) {
    self.next = next
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}

/// Retains sources, and an actor that runs its jobs on demand.
private final class Keeper: Sendable {
  private let all = Shared<[any Sendable]>([])
  let actor = IdleActor()

  func source<Update: Sendable>(of type: Update.Type) -> BroadcastSource<Update> {
    let source = BroadcastSource<Update>()
    all.append(source)
    return source
  }
}

private actor IdleActor {
  private final class Executor: SerialExecutor {
    let jobs = Shared<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.append(job)
    }
  }

  private let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Runs the jobs: a job that never runs is never released.
  nonisolated func run() {
    for job in executor.jobs.value { unsafe job.runSynchronously(on: unownedExecutor) }
  }
}

/// The parts of a subscription that can own another subscription, besides its callback.
private enum Owner: String, CaseIterable, Codable, CustomTestStringConvertible {
  case closure, onEnd, appended, queuedForFlatMap, queuedForActor, invalidatedValues

  var testDescription: String { rawValue }

  func subscription(keeping link: Link, _ keeper: Keeper) -> Subscription {
    switch self {
    case .closure: return Subscription { withExtendedLifetime(link) {} }
    case .onEnd:
      return keeper.source(of: Int.self).publisher.subscribe { _ in
      } onEnd: {
        withExtendedLifetime(link) {}
      }
    case .appended:
      let next = Broadcaster<Int> { _ in
        withExtendedLifetime(link) {}
        return .ended
      }
      return keeper.source(of: Int.self).publisher.append(next).subscribe { _ in }
    case .queuedForFlatMap:
      let source = keeper.source(of: Link?.self)
      let subscription = source.publisher.flatMap(limit: 1) { _ in Broadcaster<Int>.never }
        .subscribe { _ in }
      source.broadcast(nil)
      source.broadcast(link)
      return subscription
    case .queuedForActor:
      let source = keeper.source(of: Link.self)
      let subscription = source.publisher.subscribe(isolatedTo: keeper.actor) { _, _ in }
      source.broadcast(link)
      return subscription
    case .invalidatedValues:
      let source = keeper.source(of: Link.self)
      let values = source.publisher.values(.unbounded)
      source.broadcast(link)
      return Subscription { values.invalidate() }
    }
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
