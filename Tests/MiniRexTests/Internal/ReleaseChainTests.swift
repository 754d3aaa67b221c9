import MiniRex
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ReleaseChainTests {
  @Test func `100,000 tokens whose callbacks own the next are released on 512 KiB of stack`() async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let first = Shared<Subscription?>(chain(of: scaled(100_000), to: source))

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(source.subscriberCount == 0)
    }
  }

  @Test func `a chain of tokens is released on 512 KiB of stack by a turn, too`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
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
      mustEnd()
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
      mustEnd()
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

  @Test func `100,000 hops whose callbacks own the next are released on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let token = Shared(source.publisher.subscribe { _ in })
      await MainActor.run {
        for _ in 1..<scaled(100_000) {
          let next = token.value
          token.value = source.publisher.subscribeOnMain { _ in withExtendedLifetime(next) {} }
        }
      }
      let first = Shared<Subscription?>(token.value)
      token.value = .ended

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(source.subscriberCount == 0)
    }
  }

  @Test(arguments: Owner.allCases)
  private func `20,000 tokens are released on 512 KiB of stack, whatever owns the next`(
    owner: Owner
  ) async {
    await #expect(processExitsWith: .success) { [owner] in
      mustEnd()
      let ends = Shared(0)
      let keeper = Keeper()
      let first = Shared<Subscription?>(nil)
      for _ in 0..<scaled(20_000) {
        let link = Link(next: first.value) { ends.increment() }
        first.value = owner.token(keeping: link, keeper)
      }

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == scaled(20_000))
      keeper.actor.run()
    }
  }

  @Test func `R11 a few releases deep the callback is still released before invalidate returns`() {
    let source = BroadcastSource<Int>()
    let log = ReleaseLog()
    var token = source.publisher.subscribe { _ in }
    // A sanitizer needs more of the stack for each.
    let depth: UInt = scale < 1 ? 2 : 10
    for number in 1...depth {
      let next = token
      let sentinel = Sentinel {
        next.invalidate()
        log.append(number)
      }
      token = source.publisher.subscribe { _ in withExtendedLifetime(sentinel) {} }
    }

    token.invalidate()

    #expect(log.released == Array(1...depth))
    #expect(source.subscriberCount == 0)
  }
}

/// Owns the next token, and tells when it goes.
private final class Link: Sendable {
  private let next: Subscription?
  private let onRelease: @Sendable () -> Void

  init(next: Subscription?, onRelease: @escaping @Sendable () -> Void) {
    self.next = next
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}

/// Keeps sources alive, and an actor that does not run until it is told.
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

  /// A job that never runs is never released.
  nonisolated func run() {
    for job in executor.jobs.value { unsafe job.runSynchronously(on: unownedExecutor) }
  }
}

/// What of a token may own another one, besides its callback.
private enum Owner: String, CaseIterable, Codable, CustomTestStringConvertible {
  case closureOfItsOwn, onEnd, appended, waitingForFlatMap, waitingForHop, invalidatedValues

  var testDescription: String { rawValue }

  func token(keeping link: Link, _ keeper: Keeper) -> Subscription {
    switch self {
    case .closureOfItsOwn: return Subscription { withExtendedLifetime(link) {} }
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
    case .waitingForFlatMap:
      let source = keeper.source(of: Link?.self)
      let token = source.publisher.flatMap(limit: 1) { _ in Broadcaster<Int>.never }
        .subscribe { _ in }
      source.broadcast(nil)
      source.broadcast(link)
      return token
    case .waitingForHop:
      let source = keeper.source(of: Link.self)
      let token = source.publisher.subscribe(isolatedTo: keeper.actor) { _, _ in }
      source.broadcast(link)
      return token
    case .invalidatedValues:
      let source = keeper.source(of: Link.self)
      let values = source.publisher.values(.unbounded)
      source.broadcast(link)
      return Subscription { values.invalidate() }
    }
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
