import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Work that records its cancellation, and returns when the test lets it.
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

/// The paths from a task to a subscriber.
private enum Way: String, CaseIterable, CustomTestStringConvertible {
  case directly, map, flatMap, flatMapInner, recover, recoverInner, timeout, timeoutOfProgress, all
  case allInArray, allWithProgress, first, share, withoutProgress, retrying, merge, flatMapLatest
  case combineLatest, withLatest, delay, debounce, onEnd, weakly, bag, ownSubscription, trace,
    prefix
  case onMainActor, awaitedByOtherWork
  case flatMapLimited, flatMapOfTask, append, appendedTask, prepend, chunked, chunkedInTime, pairs
  case prefixUntil, prefixUntilTask, dropUntil, dropUntilTask, withLatestOfTask, publishedValue
  case allLimited, allLimitedWithProgress, retryingWithProgress, boundedDispatch, ownCallback,
    values

  var testDescription: String { rawValue }

  /// `false` where the release of a callback, or a closure of the test, cancels the task.
  var isKnownToSubscription: Bool {
    switch self {
    case .flatMapLimited, .flatMapLatest, .prefixUntilTask, .dropUntilTask, .withLatest,
      .withLatestOfTask, .publishedValue, .combineLatest, .ownCallback, .ownSubscription, .bag,
      .values:
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
    case .ownSubscription:
      let subscription = task.subscribe { _ in }
      return Subscription { subscription.invalidate() }
    case .trace: return task.trace("slow").subscribe { _ in }
    case .prefix: return task.broadcaster.prefix(3).filter { _ in true }.subscribe { _ in }
    case .onMainActor:
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
    case .boundedDispatch:
      return task.subscribe(isolatedTo: MainActor.shared, buffering: .bufferingNewest(1)) { _, _ in
      }
    case .ownCallback:
      let subscription = task.subscribe { _ in }
      return Broadcaster<Int>.never.subscribe { _ in withExtendedLifetime(subscription) {} }
    case .values:
      let values = task.values(.unbounded)
      return Subscription { values.invalidate() }
    case .awaitedByOtherWork:
      return PublishedTask { () async -> Int in (try? await task.value) ?? 0 }.subscribe { _ in }
    }
  }
}

@Suite(.light) struct WaitGroupTests {
  private let work = SlowWork()
  private let executor = StepExecutor()

  /// Starts a Swift task that returns whether the work had returned when `body` did.
  private func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Bool, Never> {
    let task = Task(executorPreference: executor) { [work] in
      await body()
      return work.hasReturned.value
    }
    executor.run()
    return task
  }

  /// Runs the executor until the Swift task finishes, and returns the result of the task.
  private func end(_ task: Task<Bool, Never>?) async -> Bool {
    guard let task else { return false }
    let isFinished = Shared(false)
    let waiting = Task {
      defer { isFinished.value = true }
      return await task.value
    }
    while !isFinished.value {
      executor.run()
      await Task.yield()
    }
    return await waiting.finished()
  }

  @Test(arguments: Way.allCases)
  private func `R32 async invalidateAndWait waits until canceled work returns`(way: Way) async {
    let subscription = way.subscribe(to: work)
    await work.hasStarted.wait()

    let waiting = begin { await subscription.invalidateAndWait() }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(waiting))
  }

  @Test(arguments: Way.allCases.filter(\.isKnownToSubscription))
  private func `R32 async invalidateAndWait after invalidate waits for the canceled work`(way: Way)
    async
  {
    let subscription = way.subscribe(to: work)
    await work.hasStarted.wait()

    subscription.invalidate()
    let waiting = begin { await subscription.invalidateAndWait() }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(waiting))
  }

  @Test(arguments: Way.allCases)
  private func `R32 two async invalidateAndWait calls on one subscription both wait`(way: Way) async
  {
    let subscription = way.subscribe(to: work)
    await work.hasStarted.wait()

    let waits = (0..<2).map { _ in begin { await subscription.invalidateAndWait() } }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    for task in waits { #expect(await end(task)) }
  }

  @Test(arguments: [false, true])
  func `R32 a canceled await of a result returns after the work`(isProgressive: Bool) async {
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

  @Test func `R32 work that other subscribers use is not awaited`() async {
    let task = work.task
    let subscription = task.subscribe { _ in }
    let other = task.subscribe { _ in }
    await work.hasStarted.wait()

    await subscription.invalidateAndWait()
    #expect(!work.isCancelled.isOpen)
    work.mayReturn.open()
    await other.invalidateAndWait()

    #expect(work.hasReturned.value)
  }

  @Test func `R32 work that keeps running is not awaited`() async {
    let subscription = PublishedTask(.keepsRunning) { await work.run() }.subscribe { _ in }
    await work.hasStarted.wait()

    await subscription.invalidateAndWait()

    #expect(!work.isCancelled.isOpen && !work.hasReturned.value)
    work.isCancelled.open()
    work.mayReturn.open()
  }

  @Test func `R32 two async invalidateAndWait calls after invalidate both wait`() async {
    let subscription = PublishedTask<Int, Failed>.success(1).flatMap { [work] _ in work.task }
      .subscribe { _ in }
    await work.hasStarted.wait()

    subscription.invalidate()
    let waits = (0..<2).map { _ in begin { await subscription.invalidateAndWait() } }
    executor.run()
    work.mayReturn.open()

    for task in waits { #expect(await end(task)) }
  }

  @Test func `R32 two concurrent async invalidateAndWait calls do not deadlock`() async {
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
      let subscription = merge(first, second).subscribe { _ in }
      let hasDrained = Shared(0)

      onThreads(2) { thread in
        if thread == 1 { isStopping.wait() }
        let executor = StepExecutor()
        Task(executorPreference: executor) {
          await subscription.invalidateAndWait()
          hasDrained.increment()
        }
        executor.run()
        if thread == 1 { mayStop.open() }
        while hasDrained.value < 2 { executor.run() }
      }
    }
  }

  /// Two works that each cancel the other's only subscription when they are canceled.
  private static func rivals(
    _ work:
      @escaping @Sendable (_ index: Int, _ cancelOther: @escaping @Sendable () -> Void)
      -> PublishedTask<Int, Failed>
  ) -> [Subscription] {
    let subscriptions = Shared<[Subscription]>([])
    let gates = [Gate(), Gate()]
    for index in 0...1 {
      let work = work(index) {
        gates[index].open()
        gates[1 - index].wait()
        subscriptions.value[1 - index].invalidate()
      }
      subscriptions.append(work.subscribe { _ in })
    }
    return subscriptions.value
  }

  @Test func `R32 works that cancel each other on two threads are not awaited forever`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let subscriptions = WaitGroupTests.rivals { _, cancelOther in
        PublishedTask { finish in
          Subscription { withExtendedLifetime(finish) { cancelOther() } }
        }
      }
      onThreads(2) { subscriptions[$0].invalidate() }
      for subscription in subscriptions { await subscription.invalidateAndWait() }
    }
  }

  @Test func `R32 works that cancel each other on two threads are both awaited by both`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let (works, executors) = ([SlowWork(), SlowWork()], [StepExecutor(), StepExecutor()])
      let subscriptions = WaitGroupTests.rivals { index, cancelOther in
        PublishedTask { () async throws(Failed) in
          await withTaskCancellationHandler {
            await works[index].run()
          } onCancel: {
            cancelOther()
          }
        }
      }
      for work in works { await work.hasStarted.wait() }
      let returned = Shared(0)
      for index in 0...1 {
        Task(executorPreference: executors[index]) {
          await subscriptions[index].invalidateAndWait()
          precondition(works[0].hasReturned.value && works[1].hasReturned.value)
          returned.increment()
        }
      }
      onThreads(2) { executors[$0].run() }

      for work in works {
        work.mayReturn.open()
        while !work.hasReturned.value { await Task.yield() }
        for executor in executors { executor.run() }
      }
      while returned.value < 2 {
        for executor in executors { executor.run() }
        await Task.yield()
      }
    }
  }

  @Test func `R32 a work that cancels its canceler is awaited with the work around it`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let (inner, other) = (SlowWork(), SlowWork())
      let (isCanceling, isCanceled) = (Gate(), Gate())
      let subscriptions = Shared<[Subscription]>([])
      let task = PublishedTask<Int, Failed> { () async throws(Failed) in
        await withTaskCancellationHandler {
          await inner.run()
        } onCancel: {
          isCanceling.open()
          isCanceled.wait()
          subscriptions.value[1].invalidate()
        }
      }
      let rival = PublishedTask<Int, Failed> { () async throws(Failed) in
        await withTaskCancellationHandler {
          await other.run()
        } onCancel: {
          subscriptions.value[0].invalidate()
          isCanceled.open()
        }
      }
      subscriptions.append(task.flatMap { .success($0) }.subscribe { _ in })
      subscriptions.append(rival.subscribe { _ in })
      for work in [inner, other] { await work.hasStarted.wait() }
      let executor = StepExecutor()
      let hasReturned = Shared(false)
      onThreads(2) { thread in
        if thread == 0 { return subscriptions.value[0].invalidate() }
        isCanceling.wait()
        Task(executorPreference: executor) {
          await subscriptions.value[1].invalidateAndWait()
          precondition(inner.hasReturned.value && other.hasReturned.value)
          hasReturned.value = true
        }
        executor.run()
      }
      let later = Task(executorPreference: executor) {
        await subscriptions.value[0].invalidateAndWait()
        precondition(inner.hasReturned.value)
      }

      other.mayReturn.open()
      while !other.hasReturned.value { await Task.yield() }
      // A wait that ends too early ends now.
      try? await Task.sleep(for: .milliseconds(50))
      executor.run()
      inner.mayReturn.open()
      while !hasReturned.value {
        executor.run()
        await Task.yield()
      }
      executor.run()
      await later.finished()
    }
  }

  @Test func `R32 a work may await its own subscription while another caller does`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let subscription = Shared<Subscription?>(nil)
      let (hasStarted, isCancelled, mayWait) = (AsyncGate(), AsyncGate(), AsyncGate())
      let task = PublishedTask<Int, Failed> { () async throws(Failed) in
        hasStarted.open()
        await withTaskCancellationHandler {
          await isCancelled.wait()
        } onCancel: {
          isCancelled.open()
        }
        await mayWait.wait()
        await subscription.value?.invalidateAndWait()
        return 1
      }
      subscription.value = task.subscribe { _ in }
      await hasStarted.wait()
      subscription.value?.invalidate()
      let executor = StepExecutor()
      let waiting = Task(executorPreference: executor) {
        await subscription.value?.invalidateAndWait()
      }
      executor.run()

      mayWait.open()
      let hasReturned = Shared(false)
      Task {
        await waiting.finished()
        hasReturned.value = true
      }
      while !hasReturned.value {
        executor.run()
        await Task.yield()
      }
    }
  }

  @Test func `R32 without pending work, async invalidateAndWait does not suspend`() async {
    let task = PublishedTask { 1 }
    #expect(await task.result != nil)
    let source = BroadcastSource<Int>()
    let subscriptions = [task.subscribe { _ in }, source.publisher.subscribe { _ in }, .ended]
    let isFinished = Shared(false)
    _ = Task(executorPreference: executor) {
      for subscription in subscriptions { await subscription.invalidateAndWait() }
      isFinished.value = true
    }

    executor.step()

    #expect(isFinished.value)
  }

  @Test func `R32 work and its child tasks may await the end of their own subscription`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for nested in [false, true] {
        let subscription = Shared<Subscription?>(nil)
        let gate = AsyncGate()
        let hasReturned = AsyncGate()
        let task = PublishedTask { () async -> Int in
          await gate.wait()
          if nested {
            await withTaskGroup { group in
              group.addTask { await subscription.value?.invalidateAndWait() }
              group.addTask {
                _ = await PublishedTask { await subscription.value?.invalidateAndWait() }.result
              }
            }
          } else {
            subscription.value?.invalidate()
            await subscription.value?.invalidateAndWait()
          }
          hasReturned.open()
          return 1
        }
        subscription.value = task.subscribe { _ in }
        gate.open()
        await hasReturned.wait()
      }
    }
  }

  @Test func `R32 work that another thread is starting is awaited`() async {
    let source = TaskSource<Int, Failed>()
    let isStarting = Gate()
    let mayStart = Gate()
    let subscription = source.publisher.flatMap { [work] _ in
      PublishedTask<Int, Failed> { finish in
        isStarting.open()
        mayStart.wait()
        return work.task.subscribe(finish)
      }
    }.subscribe { _ in }

    let waiting = Shared<Task<Bool, Never>?>(nil)
    onThreads(2) { [self] thread in
      if thread == 0 {
        source.finish(.success(1))
      } else {
        isStarting.wait()
        waiting.value = begin { await subscription.invalidateAndWait() }
        mayStart.open()
      }
    }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(waiting.value))
  }

  @Test func `R32 work released by a turn on another thread is awaited`() async {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayContinue = Gate()
    let inner = Shared<Subscription?>(work.task.subscribe { _ in })
    let subscription = source.publisher.subscribe { [inner = inner.value] _ in
      withExtendedLifetime(inner) {
        isDelivering.open()
        mayContinue.wait()
      }
    }
    inner.value = nil
    await work.hasStarted.wait()

    let waiting = Shared<Task<Bool, Never>?>(nil)
    onThreads(2) { [self] thread in
      if thread == 0 {
        source.broadcast(1)
      } else {
        isDelivering.wait()
        waiting.value = begin { await subscription.invalidateAndWait() }
        mayContinue.open()
      }
    }
    await work.isCancelled.wait()
    executor.run()
    work.mayReturn.open()

    #expect(await end(waiting.value))
  }

  @Test func `R32 async invalidateAndWait returns when a work handle finishes`() async {
    let workHandle = WorkHandle()
    let stops = Shared(0)
    let inlets = Shared<[WorkInlet<Result<Int, Never>>]>([])
    let task = PublishedTask<Int, Never>(
      sharing: SharedWork { inlet in
        inlets.value = [inlet]
        return workHandle.subscription { stops.increment() }
      })
    let subscription = task.subscribe { _ in }

    let waiting = begin { await subscription.invalidateAndWait() }
    #expect(stops.value == 1)
    work.hasReturned.value = true
    workHandle.finish()

    #expect(await end(waiting))
    #expect(inlets.value.first?.finish(.success(1)) == false)
  }
}
