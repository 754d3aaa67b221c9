import MiniRex
import MiniRexTesting

struct Unlucky: Error, Equatable {}

func lateResult<Outcome: TaskOutcome>(of outcome: Outcome) -> Bool { outcome.finalResult != nil }

func tasks() {
  let source = TaskSource<Int, Unlucky>()
  let early = Recorder(source.publisher.map { $0 + 1 }.mapError { _ in Unlucky() })
  expect(source.subscriberCount == 1 && source.pendingUpdates == 0)
  expect(source.finish(.success(1)) && !source.finish(.failure(Unlucky())))
  expect(early.updates == [.success(2)] && early.hasEnded)

  let progress = ProgressiveTaskSource<Double, String, Unlucky>()
  let heard = Recorder(progress.publisher.mapProgress { $0 * 100 }.withoutProgress())
  let parts = Recorder(all([progress.publisher, ProgressiveTask(.success("b"))], weights: [1, 1]))
  var token = progress.publisher.subscribe(success: { _ in }, failure: { _ in }, progress: { _ in })
  progress.report(0.5)
  progress.finish(.success("a"))
  expect(heard.updates == [.success("a")] && parts.updates.last.map(lateResult) == true)
  token = source.publisher.subscribe(success: { expect($0 == 1) }, failure: { _ in })
  expect(!token.isSubscribed)
  aClosureWithoutALabelGetsTheWholeUpdate()

  let failed: PublishedTask<Int, Unlucky> = .failure(Unlucky())
  expect(Recorder(failed.recover { _ in .success(3) }).updates == [.success(3)])
  let seven: PublishedTask<Int, Unlucky> = .success(7)
  expect(Recorder(seven.flatMap { number in .success("\(number)") }).updates == [.success("7")])
  expect(Recorder(all(seven, source.publisher).map { $0.0 + $0.1 }).updates == [.success(8)])
  expect(Recorder(PublishedTask<Int, Never>.never).updates == [])
  expect(Recorder(PublishedValue.constant(1).first()).updates == [.success(1)])
  let even = Broadcaster.sequence([1, 2, 3]).first(where: { $0 % 2 == 0 })
  expect(Recorder(even).updates == [.success(2)])
  let called = PublishedTask<Int, Never> { finish in
    finish(.success(1))
    return .ended
  }
  expect(Recorder(called).updates == [.success(1)])
}

/// What the compiler refuses stands in `Checks/WrongPrograms`.
private func aClosureWithoutALabelGetsTheWholeUpdate() {
  @Sendable func isResult<Failure>(_: Result<Int, Failure>) {}
  @Sendable func isUpdate<Failure>(_: TaskUpdate<Int, Int, Failure>) {}
  let task = TaskSource<Int, Unlucky>()
  let sureTask = TaskSource<Int, Never>()
  let steps = ProgressiveTaskSource<Int, Int, Unlucky>()
  let sureSteps = ProgressiveTaskSource<Int, Int, Never>()
  let tokens = [
    task.publisher.subscribe { _ in },
    task.publisher.subscribe { isResult($0) },
    task.publisher.subscribe { result in
      isResult(result)
      print(result)
    },
    sureTask.publisher.subscribe { _ in },
    sureTask.publisher.subscribe { isResult($0) },
    sureTask.publisher.subscribe { result in
      isResult(result)
      print(result)
    },
    sureTask.publisher.subscribe(success: { expect($0 == 1) }),
    steps.publisher.subscribe { _ in },
    steps.publisher.subscribe { isUpdate($0) },
    steps.publisher.subscribe { update in
      isUpdate(update)
      print(update)
    },
    sureSteps.publisher.subscribe { _ in },
    sureSteps.publisher.subscribe { isUpdate($0) },
    sureSteps.publisher.subscribe { update in
      isUpdate(update)
      print(update)
    },
    sureSteps.publisher.subscribe(success: { _ in }, progress: { _ in }),
  ]
  expect(tokens.allSatisfy { $0.isSubscribed })
}

func time() {
  let clock = ManualClock()
  let source = PublishedProperty(0)
  let quiet = Recorder(source.publisher.debounce(for: .seconds(2), clock: clock))
  let seldom = Recorder(source.publisher.throttle(for: .seconds(2), latest: true, clock: clock))
  let late = Recorder(source.publisher.delay(for: .seconds(2), clock: clock))
  let ticks = Recorder(clock.broadcaster(every: .seconds(1)))
  let one = Recorder(Broadcaster.sequence([1, 2], every: .seconds(1), clock: clock))
  let constant = Recorder(PublishedValue.constant(4, after: .seconds(1), clock: clock))
  let given: PublishedTask<Int, Never> = .success(1, after: .seconds(1), clock: clock)
  let limited = Recorder(
    PublishedTask<Int, Unlucky>.never.timeout(after: .seconds(1), clock: clock))
  let refused: PublishedTask<Int, Unlucky> = .failure(Unlucky(), after: .seconds(1), clock: clock)
  let steps: ProgressiveTask<Int, Int, Never> = .sequence(
    [1], .success(2), every: .seconds(1), clock: clock)
  let results = (Recorder(given), Recorder(refused), Recorder(steps))
  let bell = Recorder(Broadcaster.sequence([0], after: .seconds(1), clock: clock))
  let scheduling: any SchedulingClock<Duration> = clock
  expect(scheduling.minimumResolution == clock.minimumResolution)
  let alarm = clock.schedule(at: clock.now.advanced(by: .seconds(9))) { fatalError("too early") }
  source.value = 1

  clock.advance(by: .seconds(4))

  expect(quiet.updates == [0, 1] && seldom.updates == [0, 1] && late.updates == [0, 1])
  expect(ticks.updates.count == 4 && one.updates == [1, 2] && constant.updates == [4])
  expect(bell.updates == [0] && results.0.updates == [.success(1)])
  expect(results.1.updates == [.failure(Unlucky())] && results.2.updates.count == 2)
  guard case .failure(.timedOut) = limited.updates.first else { fatalError("no timeout") }
  let other = TimeoutError<Unlucky>.failed(Unlucky())
  if case .failed(let failure) = other { expect(failure == Unlucky()) }
  alarm.invalidate()
}

func asyncCode() async throws {
  expect(TaskLifetime.keepsRunning != .whileSubscribed)
  let work = PublishedTask(.keepsRunning) { () async -> Int in 1 }
  expect(await work.result == .success(1))
  let steps = ProgressiveTask { (report: @escaping @Sendable (Int) -> Void) async -> String in
    report(1)
    return "done"
  }
  let text = try await steps.value
  expect(text == "done")
  await BroadcastSource<Int>().delivered()
  await PublishedProperty(0).delivered()
  await TaskSource<Int, Never>().delivered()
  await ProgressiveTaskSource<Int, Int, Never>().delivered()

  let source = BroadcastSource<Int>()
  let values = source.publisher.values(.bufferingNewest(2))
  let oldest = source.publisher.values(.bufferingOldest(1))
  let every: PublisherValues<Int> = source.publisher.values(.unbounded)
  let policy: BufferingPolicy<BroadcasterKind> = .unbounded
  withExtendedLifetime(policy) {}
  for number in 1...3 { source.broadcast(number) }
  source.end()
  expect(values.droppedCount == 1 && values.bufferedCount == 2 && oldest.droppedCount == 2)
  var sum = 0
  for await number in every { sum += number }
  var iterator: PublisherValues<Int>.Iterator = values.makeAsyncIterator()
  let newest: PublisherValues<Int>.Element? = await iterator.next(isolation: #isolation)
  expect(sum == 6 && newest == 2)

  let numbers = AsyncStream<Int> { continuation in
    for number in 1...3 { continuation.yield(number) }
    continuation.finish()
  }
  every.invalidate()
  let collected = try await PublishedTask(collecting: Broadcaster(numbers).values(.unbounded)).value
  expect(collected == [1, 2, 3])
  let tries = PublishedProperty(0)
  let lucky = PublishedTask.retrying(
    times: 3,
    delay: .exponential(
      from: .zero, upTo: .zero, jitter: 0.5, using: SystemRandomNumberGenerator()),
    clock: ContinuousClock(), while: { (_: Unlucky) in true }
  ) { () async throws(Unlucky) -> Int in
    tries.modify { $0 += 1 }
    if tries.value < 3 { throw Unlucky() }
    return tries.value
  }
  let number = try await lucky.value
  expect(number == 3)
  let step: ProgressiveTask<Double, Int, Unlucky> = .retrying(times: 1, while: { _ in false }) {
    report in
    report(0.5)
    return 1
  }
  let stepped = try await step.value
  expect(stepped == 1)
  let squares = all(1...3, limit: 2) { PublishedTask<Int, Never>.success($0 * $0) }
  expect(await squares.result == .success([1, 4, 9]))
  let loads = all([1, 2], limit: 1, weights: [1, 3]) {
    ProgressiveTask<Double, Int, Never>(.success($0))
  }
  expect(Recorder(loads).updates.prefix(2) == [.progress(0.25), .progress(1)])
  let delay: RetryDelay = .constant(.zero)
  withExtendedLifetime(delay) {}
}
