import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Work that notices when it is cancelled, and returns when it may.
private final class SlowWork: Sendable {
  let hasStarted = AsyncGate()
  let isCancelled = AsyncGate()
  let mayReturn = AsyncGate()
  let hasReturned = Shared(false)

  func run() async -> Int {
    hasStarted.open()
    await withTaskCancellationHandler {
      await isCancelled.wait()
    } onCancel: {
      isCancelled.open()
    }
    await mayReturn.wait()
    hasReturned.value = true
    return 1
  }

  var task: PublishedTask<Int, Failed> {
    PublishedTask { () async throws(Failed) in await self.run() }
  }

  var progressive: ProgressiveTask<Double, Int, Failed> {
    ProgressiveTask { (_) async throws(Failed) in await self.run() }
  }
}

/// Every way that a task may go before somebody subscribes.
private enum Way: String, CaseIterable, CustomTestStringConvertible {
  case directly, map, flatMap, flatMapInner, recover, recoverInner, timeout, timeoutOfProgress, all
  case allInArray, allWithProgress, first, share, withoutProgress, retrying, merge, flatMapLatest
  case combineLatest, withLatest, delay, debounce, onEnd, weakly, bag, ownToken, trace, prefix
  case throughTheMainActor, awaitedByOtherWork
  case flatMapLimited, flatMapOfTask, append, appendedTask, prepend, chunked, chunkedInTime, pairs
  case prefixUntil, prefixUntilTask, dropUntil, dropUntilTask, withLatestOfTask, publishedValue
  case allLimited, allLimitedWithProgress, retryingWithProgress, boundedHop, ownCallback, values

  var testDescription: String { rawValue }

  /// False where the task is left by the release of a callback, or by one of the test's.
  var isKnownToToken: Bool {
    switch self {
    case .flatMapLimited, .flatMapLatest, .prefixUntilTask, .dropUntilTask, .withLatest,
      .withLatestOfTask, .publishedValue, .combineLatest, .ownCallback, .ownToken, .bag, .values:
      false
    default: true
    }
  }

  func subscribe(to work: SlowWork) -> Subscription {
    let task = work.task
    let progressive = work.progressive
    let clock = ManualClock()
    switch self {
    case .directly: return task.subscribe { _ in }
    case .map: return task.map { $0 + 1 }.mapError { $0 }.subscribe { _ in }
    case .flatMap: return task.flatMap { _ in task }.subscribe { _ in }
    case .flatMapInner:
      return PublishedTask<Int, Failed>.success(1).flatMap { _ in task }.subscribe { _ in }
    case .recover: return task.recover { _ in task }.subscribe { _ in }
    case .recoverInner:
      return ProgressiveTask<Double, Int, Failed> { _, finish in
        finish(.failure(Failed()))
        return .ended
      }.recover { _ in progressive }.subscribe { _ in }
    case .timeout: return task.timeout(after: .seconds(1), clock: clock).subscribe { _ in }
    case .timeoutOfProgress:
      return progressive.timeout(after: .seconds(1), clock: clock).subscribe { _ in }
    case .all:
      return MiniRex.all(PublishedTask<Int, Failed>.never, task).subscribe { _ in }
    case .allInArray: return MiniRex.all([task, .never]).subscribe { _ in }
    case .allWithProgress:
      return MiniRex.all(progressive, progressive, weights: [1, 2]).subscribe { _ in }
    case .first: return task.broadcaster.first().subscribe { _ in }
    case .share: return task.broadcaster.share().share().subscribe { _ in }
    case .withoutProgress:
      return progressive.mapProgress { $0 }.withoutProgress().subscribe { _ in }
    case .retrying:
      return PublishedTask.retrying(times: 3) { () async throws(Failed) in await work.run() }
        .subscribe { _ in }
    case .merge:
      return MiniRex.merge(Broadcaster<Result<Int, Failed>>.never, task.broadcaster)
        .subscribe { _ in }
    case .flatMapLatest:
      return PublishedValue.constant(1).broadcaster.flatMapLatest { _ in task }.subscribe { _ in }
    case .combineLatest:
      let value = task.broadcaster.map { _ in 1 }.publishedValue(initial: 0)
      return MiniRex.combineLatest(PublishedValue.constant(1), value).subscribe { _ in }
    case .withLatest:
      let value = task.broadcaster.map { _ in 1 }.publishedValue(initial: 0)
      return Broadcaster<Int>.never.withLatest(from: value).subscribe { _ in }
    case .delay: return task.delay(for: .seconds(1), clock: clock).subscribe { _ in }
    case .debounce:
      return task.broadcaster.debounce(for: .seconds(1), clock: clock).subscribe { _ in }
    case .onEnd:
      return task.subscribe { _ in
      } onEnd: {
      }
    case .weakly: return task.subscribe(weakly: work) { _, _ in }
    case .bag:
      let bag = SubscriptionBag()
      task.subscribe { _ in }.store(in: bag)
      return Subscription { bag.invalidate() }
    case .ownToken:
      let token = task.subscribe { _ in }
      return Subscription { token.invalidate() }
    case .trace: return task.trace("slow").subscribe { _ in }
    case .prefix: return task.broadcaster.prefix(3).filter { _ in true }.subscribe { _ in }
    case .throughTheMainActor:
      return task.subscribe(isolatedTo: MainActor.shared) { _, _ in }
    case .flatMapLimited:
      return PublishedValue.constant(1).flatMap(limit: 1) { _ in task }.subscribe { _ in }
    case .flatMapOfTask:
      return task.broadcaster.flatMap(limit: 1) { _ in task }.subscribe { _ in }
    case .append: return task.broadcaster.append(.never).subscribe { _ in }
    case .appendedTask:
      return Broadcaster.sequence([]).append(task.broadcaster).subscribe { _ in }
    case .prepend: return task.broadcaster.prepend(.success(1)).subscribe { _ in }
    case .chunked: return task.broadcaster.chunked(by: 2).subscribe { _ in }
    case .chunkedInTime:
      return task.broadcaster.chunked(by: 2, every: .seconds(1), clock: clock).subscribe { _ in }
    case .pairs: return task.broadcaster.pairs().subscribe { _ in }
    case .prefixUntil:
      return task.broadcaster.prefix(until: Broadcaster<Int>.never).subscribe { _ in }
    case .prefixUntilTask:
      return Broadcaster<Int>.never.prefix(until: task.broadcaster).subscribe { _ in }
    case .dropUntil:
      return task.broadcaster.drop(until: Broadcaster<Int>.never).subscribe { _ in }
    case .dropUntilTask:
      return Broadcaster<Int>.never.drop(until: task.broadcaster).subscribe { _ in }
    case .withLatestOfTask:
      return Broadcaster<Int>.never.withLatest(from: task.broadcaster).subscribe { _ in }
    case .publishedValue: return task.broadcaster.publishedValue().subscribe { _ in }
    case .allLimited: return MiniRex.all([1, 2], limit: 1) { _ in task }.subscribe { _ in }
    case .allLimitedWithProgress:
      return MiniRex.all([1, 2], limit: 1) { _ in progressive }.subscribe { _ in }
    case .retryingWithProgress:
      return ProgressiveTask<Double, Int, Failed>.retrying(times: 3) { (_) async throws(Failed) in
        await work.run()
      }.subscribe { _ in }
    case .boundedHop:
      return task.subscribe(isolatedTo: MainActor.shared, buffering: .bufferingNewest(1)) { _, _ in
      }
    case .ownCallback:
      let token = task.subscribe { _ in }
      return Broadcaster<Int>.never.subscribe { _ in withExtendedLifetime(token) {} }
    case .values:
      let values = task.values(.unbounded)
      return Subscription { values.invalidate() }
    case .awaitedByOtherWork:
      return PublishedTask { () async -> Int in (try? await task.value) ?? 0 }.subscribe { _ in }
    }
  }
}

@Suite(.timeLimit(.minutes(20))) struct DrainTests {
  private let work = SlowWork()
  private let executor = StepExecutor()

  /// A Swift task that says whether the work had returned when its body did.
  private func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Bool, Never> {
    let task = Task(executorPreference: executor) { [work] in
      await body()
      return work.hasReturned.value
    }
    executor.run()
    return task
  }

  /// What the Swift task says, which needs the executor to come to its end.
  private func end(_ task: Task<Bool, Never>?) async -> Bool {
    guard let task else { return false }
    let isOver = Shared(false)
    let waiting = Task {
      defer { isOver.value = true }
      return await task.value
    }
    while !isOver.value {
      executor.run()
      await Task.yield()
    }
    return await waiting.value
  }

  @Test(arguments: Way.allCases)
  private func `R32 the last one who drains waits until the work has returned`(way: Way) async {
    let token = way.subscribe(to: work)
    await work.hasStarted.wait()

    let draining = begin { await token.invalidateAndDrain() }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(draining))
  }

  @Test(arguments: Way.allCases.filter(\.isKnownToToken))
  private func `R32 whoever drains it after others have ended it waits, too`(way: Way) async {
    let token = way.subscribe(to: work)
    await work.hasStarted.wait()

    token.invalidate()
    let draining = begin { await token.invalidateAndDrain() }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(draining))
  }

  @Test(arguments: Way.allCases)
  private func `R32 two who drain it both wait`(way: Way) async {
    let token = way.subscribe(to: work)
    await work.hasStarted.wait()

    let drains = (0..<2).map { _ in begin { await token.invalidateAndDrain() } }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    for drain in drains { #expect(await end(drain)) }
  }

  @Test(arguments: [false, true])
  func `R32 a cancelled task that waits returns when the work has`(isProgressive: Bool) async {
    let (task, progressive) = (work.task.map { $0 }, work.progressive)
    let waiting = begin {
      if isProgressive { _ = try? await progressive.value } else { _ = await task.result }
    }
    await work.hasStarted.wait()

    waiting.cancel()
    #expect(work.isCancelled.isOpen)
    executor.run()
    work.mayReturn.open()

    #expect(await end(waiting))
  }

  @Test func `R32 work that others want is not waited for`() async {
    let task = work.task
    let token = task.subscribe { _ in }
    let other = task.subscribe { _ in }
    await work.hasStarted.wait()

    await token.invalidateAndDrain()
    #expect(!work.isCancelled.isOpen)
    work.mayReturn.open()
    await other.invalidateAndDrain()

    #expect(work.hasReturned.value)
  }

  @Test func `R32 work that keeps running is not waited for`() async {
    let token = PublishedTask(.keepsRunning) { await work.run() }.subscribe { _ in }
    await work.hasStarted.wait()

    await token.invalidateAndDrain()

    #expect(!work.isCancelled.isOpen && !work.hasReturned.value)
    work.isCancelled.open()
    work.mayReturn.open()
  }

  @Test func `R32 whoever has ended it before, and another who drains too, wait as well`() async {
    let token = PublishedTask<Int, Failed>.success(1).flatMap { [work] _ in work.task }
      .subscribe { _ in }
    await work.hasStarted.wait()

    token.invalidate()
    let drains = (0..<2).map { _ in begin { await token.invalidateAndDrain() } }
    executor.run()
    work.mayReturn.open()

    for drain in drains { #expect(await end(drain)) }
  }

  @Test func `R32 two who drain what both have left do not wait for each other`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let isStopping = Gate()
      let mayStop = Gate()
      let first = PublishedTask<Int, Failed> {
        (finish: @escaping @Sendable (Result<Int, Failed>) -> Void) in
        Subscription {
          isStopping.open()
          withExtendedLifetime(finish) { mayStop.wait() }
        }
      }
      let second = PublishedTask<Int, Failed>.never.map { $0 }.timeout(
        after: .seconds(1), clock: ManualClock()
      ).mapError { _ in Failed() }
      let token = merge(first, second).subscribe { _ in }
      let hasDrained = Shared(0)

      onThreads(2) { thread in
        if thread == 1 { isStopping.wait() }
        let executor = StepExecutor()
        Task(executorPreference: executor) {
          await token.invalidateAndDrain()
          hasDrained.increment()
        }
        executor.run()
        if thread == 1 { mayStop.open() }
        while hasDrained.value < 2 { executor.run() }
      }
    }
  }

  @Test func `R32 with nothing to wait for it does not suspend`() async {
    let task = PublishedTask { 1 }
    #expect(await task.result != nil)
    let source = BroadcastSource<Int>()
    let tokens = [task.subscribe { _ in }, source.publisher.subscribe { _ in }, .ended]
    let isOver = Shared(false)
    _ = Task(executorPreference: executor) {
      for token in tokens { await token.invalidateAndDrain() }
      isOver.value = true
    }

    executor.step()

    #expect(isOver.value)
  }

  @Test func `R32 work may drain its own subscription, and so may what it has started`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for nested in [false, true] {
        let token = Shared<Subscription?>(nil)
        let gate = AsyncGate()
        let hasReturned = AsyncGate()
        let task = PublishedTask { () async -> Int in
          await gate.wait()
          if nested {
            await withTaskGroup { group in
              group.addTask { await token.value?.invalidateAndDrain() }
              group.addTask {
                _ = await PublishedTask { await token.value?.invalidateAndDrain() }.result
              }
            }
          } else {
            token.value?.invalidate()
            await token.value?.invalidateAndDrain()
          }
          hasReturned.open()
          return 1
        }
        token.value = task.subscribe { _ in }
        gate.open()
        await hasReturned.wait()
      }
    }
  }

  @Test func `R32 work that another thread is about to start is waited for, too`() async {
    let source = TaskSource<Int, Failed>()
    let isStarting = Gate()
    let mayStart = Gate()
    let token = source.publisher.flatMap { [work] _ in
      isStarting.open()
      mayStart.wait()
      return work.task
    }.subscribe { _ in }

    let draining = Shared<Task<Bool, Never>?>(nil)
    onThreads(2) { [self] thread in
      if thread == 0 {
        source.finish(.success(1))
      } else {
        isStarting.wait()
        draining.value = begin { await token.invalidateAndDrain() }
        mayStart.open()
      }
    }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(draining.value))
  }

  @Test func `R32 what a turn on another thread releases is waited for, too`() async {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayGoOn = Gate()
    let inner = Shared<Subscription?>(work.task.subscribe { _ in })
    let token = source.publisher.subscribe { [inner = inner.value] _ in
      withExtendedLifetime(inner) {
        isDelivering.open()
        mayGoOn.wait()
      }
    }
    inner.value = nil
    await work.hasStarted.wait()

    let draining = Shared<Task<Bool, Never>?>(nil)
    onThreads(2) { [self] thread in
      if thread == 0 {
        source.broadcast(1)
      } else {
        isDelivering.wait()
        draining.value = begin { await token.invalidateAndDrain() }
        mayGoOn.open()
      }
    }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(draining.value))
  }

  @Test func `R32 an errand comes back when it says so`() async {
    let errand = Errand()
    let stops = Shared(0)
    let inlets = Shared<[WorkInlet<Result<Int, Never>>]>([])
    let task = PublishedTask<Int, Never>(
      sharing: SharedWork { inlet in
        inlets.value = [inlet]
        return errand.subscription { stops.increment() }
      })
    let token = task.subscribe { _ in }

    let draining = begin { await token.invalidateAndDrain() }
    #expect(stops.value == 1)
    work.hasReturned.value = true
    errand.comeBack()

    #expect(await end(draining))
    #expect(inlets.value.first?.finish(.success(1)) == false)
  }
}
