import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy) struct OwnerChainTests {
  @Test(arguments: Owner.allCases)
  private func `R11 10,000 subscriptions with any kind of owner are released on 512 KiB of stack`(
    owner: Owner
  ) async {
    await #expect(processExitsWith: .success) { [owner] in
      mustEnd()
      let (count, ends) = (chainSteps(overflowingDepth), Shared(0))
      let keeper = Keeper()
      let first = Shared<Subscription?>(nil)
      for _ in 0..<count {
        let link = Link(next: first.value) { ends.increment() }
        first.value = owner.subscription(keeping: link, keeper)
      }

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == count)
      keeper.actor.run()
    }
  }

  @Test(arguments: Holder.allCases)
  private func `R11 10,000 objects that hold the next in a value are released on 512 KiB of stack`(
    holder: Holder
  ) async {
    await #expect(processExitsWith: .success) { [holder] in
      mustEnd()
      let (count, ends) = (chainSteps(overflowingDepth), Shared(0))
      let first = Shared<(any Sendable)?>(nil)
      for _ in 0..<count {
        first.value = holder.object(holding: Link(next: first.value) { ends.increment() })
      }

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == count)
    }
  }
}

/// An object that retains the next object of a chain, and runs a closure in `deinit`.
private final class Link: Sendable {
  private let next: (any Sendable)?
  private let onRelease: @Sendable () -> Void

  init(next: (any Sendable)?, onRelease: @escaping @Sendable () -> Void) {
    self.next = next
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}

/// Retains sources, a clock on which no time passes, and an actor that runs its jobs on demand.
private final class Keeper: Sendable {
  private let all = Shared<[any Sendable]>([])
  let actor = IdleActor()
  let clock = ManualClock()

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

/// Returns a publisher whose subscription owns the link.
private func publisher(owning link: Link) -> Broadcaster<Int> {
  Broadcaster { _ in Subscription { withExtendedLifetime(link) {} } }
}

private func value(owning link: Link) -> PublishedValue<Int> {
  publisher(owning: link).publishedValue(initial: 0)
}

private func task(owning link: Link) -> PublishedTask<Int, Failed> {
  PublishedTask { (_: @Sendable (Result<Int, Failed>) -> Void) in
    Subscription { withExtendedLifetime(link) {} }
  }
}

/// The parts of a subscription that can own another subscription, besides its callback.
private enum Owner: String, CaseIterable, Codable, CustomTestStringConvertible {
  case closure, onEnd, appended, queuedForFlatMap, queuedForActor, invalidatedValues
  case shared, merged, combined, glitchFree, switched, flatMapped, computed, task, recovered, all
  case timedOut, prefixed, dropped, withLatest, first
  case remembered, prepended, chunked, debounced, throttled, delayed, suspending

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
    case .shared: return publisher(owning: link).share().subscribe { _ in }
    case .merged:
      return merge(publisher(owning: link), Broadcaster<Int>.never).subscribe { _ in }
    case .combined:
      return combineLatest(value(owning: link), PublishedValue.constant(1)).subscribe { _ in }
    case .glitchFree:
      let value = value(owning: link)
      return combineLatest(value, value.map { $0 + 1 }).subscribe { _ in }
    case .switched:
      let value = value(owning: link)
      return PublishedValue.constant(1).flatMapLatest { _ in value }.subscribe { _ in }
    case .flatMapped:
      let inner = publisher(owning: link)
      return Broadcaster.sequence([1]).flatMap(limit: 2) { _ in inner }.subscribe { _ in }
    case .computed:
      let value = value(owning: link)
      return PublishedValue.computed { read in read(value) }.subscribe { _ in }
    case .task: return MiniRexTests.task(owning: link).subscribe { _ in }
    case .recovered:
      let next = MiniRexTests.task(owning: link)
      return PublishedTask<Int, Failed>.failure(Failed()).recover { (_: Failed) in next }
        .subscribe { _ in }
    case .all: return MiniRex.all([MiniRexTests.task(owning: link)]).subscribe { _ in }
    case .timedOut:
      return MiniRexTests.task(owning: link).timeout(after: .seconds(1), clock: keeper.clock)
        .subscribe { _ in }
    case .prefixed:
      return keeper.source(of: Int.self).publisher.prefix(until: publisher(owning: link))
        .subscribe { _ in }
    case .dropped:
      return keeper.source(of: Int.self).publisher.drop(until: publisher(owning: link))
        .subscribe { _ in }
    case .withLatest:
      return keeper.source(of: Int.self).publisher.withLatest(from: value(owning: link))
        .subscribe { _ in }
    case .first: return publisher(owning: link).first().subscribe { _ in }
    case .remembered: return keep(link, keeper) { $0.scan(nil) { $1 as Link? } }
    case .prepended:
      return keeper.source(of: Link.self).publisher.prepend(link).subscribe { _ in }
    case .chunked: return keep(link, keeper) { $0.chunked(by: 2) }
    case .debounced:
      return keep(link, keeper) { $0.debounce(for: .seconds(1), clock: keeper.clock) }
    case .throttled:
      return keep(link, keeper, sends: 2) { $0.throttle(for: .seconds(1), clock: keeper.clock) }
    case .delayed:
      return keep(link, keeper) { $0.delay(for: .seconds(1), clock: keeper.clock) }
    case .suspending:
      let source = keeper.source(of: Link.self)
      let subscription = source.publisher.subscribe(
        isolatedTo: keeper.actor, buffering: .suspending(2)
      ) { _, _ in }
      source.broadcast(link)
      return subscription
    }
  }

  /// Subscribes to an operator, and sends it the link.
  private func keep<Update: Sendable>(
    _ link: Link, _ keeper: Keeper, sends count: Int = 1,
    _ transform: (Broadcaster<Link>) -> Broadcaster<Update>
  ) -> Subscription {
    let source = keeper.source(of: Link.self)
    let subscription = transform(source.publisher).subscribe { _ in }
    for _ in 0..<count { source.broadcast(link) }
    return subscription
  }
}

/// The objects that own a value.
private enum Holder: String, CaseIterable, Codable, CustomTestStringConvertible {
  case result, largeResult, sharedResult, progress, computed, computedResult
  case resource, resourceClosure, family, bag, source
  case property, largeProperty, propertyPublisher, publishedValue, constant
  case constantTask, constantProgressiveTask, sequence, append

  var testDescription: String { rawValue }

  func object(holding link: Link) -> any Sendable {
    switch self {
    case .result:
      let source = TaskSource<Link, Never>()
      source.finish(.success(link))
      return source.publisher
    case .largeResult:
      let source = TaskSource<[4 of Link], Never>()
      source.finish(.success(.init(repeating: link)))
      return source.publisher
    case .sharedResult:
      let task = PublishedTask<Link, Never> { (finish: @Sendable (Result<Link, Never>) -> Void) in
        finish(.success(link))
        return .ended
      }
      return (task, task.subscribe { _ in })
    case .progress:
      let source = ProgressiveTaskSource<Link, Int, Never>()
      source.report(link)
      return source
    case .resource:
      let resource = Resource<Link?, Never> { () async -> Link? in nil }
      resource.set(link)
      return resource
    case .resourceClosure:
      return Resource { () async -> Int in
        withExtendedLifetime(link) {}
        return 0
      }
    case .family:
      let family = ResourceFamily { (_: Int) async -> Link? in nil }
      family[0].set(link)
      return family
    case .computed:
      return PublishedValue.computed { _ in
        withExtendedLifetime(link) {}
        return 0
      }
    case .computedResult:
      let next = Shared<Link?>(link)
      let value = PublishedValue.computed { _ in next.change { $0.take() } }
      _ = value.current()
      return value
    case .property: return PublishedProperty<Link?>(link)
    case .largeProperty: return PublishedProperty([4 of Link](repeating: link))
    case .propertyPublisher: return PublishedProperty(link).publisher
    case .publishedValue:
      return BroadcastSource<Link>().publisher.publishedValue(initial: link)
    case .constant: return PublishedValue.constant(link)
    case .constantTask: return PublishedTask<Link, Never>.success(link)
    case .constantProgressiveTask: return ProgressiveTask<Int, Link, Never>.success(link)
    case .sequence: return Broadcaster.sequence([link])
    case .append: return publisher(owning: link).append(Broadcaster.never)
    case .bag:
      let bag = SubscriptionBag()
      Subscription { withExtendedLifetime(link) {} }.store(in: bag)
      return bag
    case .source:
      let source = BroadcastSource<Int>()
      let subscription = source.publisher.subscribe { _ in withExtendedLifetime(link) {} }
      return (source, subscription)
    }
  }
}
