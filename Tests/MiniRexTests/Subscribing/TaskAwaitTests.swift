import MiniRex
import TestSupport
import Testing

private struct Refusal: Error, Equatable {
  var code = 1
}

/// Work that a test finishes by hand, with counters of its starts and cancellations.
private final class Work: Sendable {
  let starts = Shared(0)
  let cancellations = Shared(0)
  let finish = Shared<(@Sendable (Result<Int, Refusal>) -> Void)?>(nil)

  var task: PublishedTask<Int, Refusal> {
    PublishedTask { [starts, cancellations, finish] receive in
      starts.increment()
      finish.value = receive
      return Subscription { cancellations.increment() }
    }
  }
}

@Suite(.light) struct TaskAwaitTests {
  @Test func `R18 result and value return the result of the task`() async throws {
    let source = TaskSource<Int, Refusal>()
    async let early = source.publisher.result
    source.finish(.success(7))

    #expect(await early == .success(7))
    #expect(await source.publisher.result == .success(7))
    #expect(try await source.publisher.value == 7)
  }

  @Test func `R18 value throws the failure`() async {
    let source = TaskSource<Int, Refusal>()
    source.finish(.failure(Refusal()))

    #expect(await source.publisher.result == .failure(Refusal()))
    await #expect(throws: Refusal()) { try await source.publisher.value }
  }

  @Test func `R18 without a result, result is nil and value throws CancellationError`()
    async
  {
    let source = TaskSource<Int, Refusal>()
    let publisher = source.publisher
    let executor = StepExecutor()
    let waiting = Task(executorPreference: executor) { await publisher.result }
    executor.run()
    withExtendedLifetime(consume source) {}
    executor.run()

    #expect(await waiting.finished() == nil)
    await #expect(throws: CancellationError.self) { try await publisher.value }
  }

  @Test func `R18 the result of a progressive task resumes value, and progress does not`()
    async throws
  {
    let source = ProgressiveTaskSource<Double, Int, Refusal>()
    let executor = StepExecutor()
    let publisher = source.publisher
    let waiting = Task(executorPreference: executor) { try await publisher.value }
    executor.run()

    source.report(0.5)
    #expect(!executor.step())
    source.finish(.success(3))
    executor.run()

    #expect(try await waiting.finished() == 3)
    #expect(await source.publisher.result == .success(3))
    #expect(source.subscriberCount == 0)
  }

  @Test func `R18 value throws when a progressive task fails or finishes without a result`() async {
    let source = ProgressiveTaskSource<Double, Int, Refusal>()
    source.finish(.failure(Refusal(code: 2)))
    let gone = ProgressiveTaskSource<Double, Int, Refusal>().publisher

    await #expect(throws: Refusal(code: 2)) { try await source.publisher.value }
    await #expect(throws: CancellationError.self) { try await gone.value }
    #expect(await gone.result == nil)
  }

  @Test(arguments: 0...3)
  func `R19 R21 canceling a Swift task that awaits a result cancels the work`(steps: Int)
    async
  {
    let work = Work()
    let task = work.task
    let executor = StepExecutor()
    let waiting = Task(executorPreference: executor) { await task.result }
    for _ in 0..<steps { executor.step() }
    #expect(work.starts.value == min(steps, 1))

    waiting.cancel()

    #expect(work.cancellations.value == work.starts.value)
    executor.run()
    #expect(await waiting.finished() == nil)
    #expect(work.starts.value == min(steps, 1))
  }

  @Test func `R18 a result that precedes the cancellation is returned`() async {
    let work = Work()
    let task = work.task
    let executor = StepExecutor()
    let waiting = Task(executorPreference: executor) { await task.result }
    executor.run()

    work.finish.value?(.success(1))
    waiting.cancel()
    executor.run()

    #expect(await waiting.finished() == .success(1))
  }

  @Test func `R19 canceling one of two awaiting Swift tasks does not cancel shared work`() async {
    let work = Work()
    let task = work.task
    let executor = StepExecutor()
    let waiting = (0..<2).map { _ in Task(executorPreference: executor) { await task.result } }
    executor.run()
    #expect(work.starts.value == 1)

    waiting[0].cancel()
    #expect(work.cancellations.value == 0)
    work.finish.value?(.success(4))
    executor.run()

    #expect(await waiting[0].finished() == nil)
    #expect(await waiting[1].finished() == .success(4))
    #expect(work.starts.value == 1)
  }

  @Test func `R19 awaiting starts async work, and canceling the wait cancels it`() async {
    let isCancelled = Shared(false)
    let hasStarted = Shared(false)
    let task = PublishedTask { () async -> Int in
      hasStarted.value = true
      let never = AsyncStream<Int> { _ in }
      for await _ in never {}
      isCancelled.value = Task.isCancelled
      return 1
    }
    let waiting = Task { await task.result }
    await until { hasStarted.value }

    waiting.cancel()

    #expect(await waiting.finished() == nil)
    await until { isCancelled.value }
    #expect(try! await PublishedTask { 5 }.value == 5)
  }

  @Test func `R11 awaiting a result does not retain it`() async {
    let source = TaskSource<Thing, Never>()
    weak var result: Thing?
    let executor = StepExecutor()
    let waiting = Task(executorPreference: executor) { [publisher = source.publisher] in
      await publisher.result != nil
    }
    executor.run()
    do {
      let thing = Thing()
      result = thing
      source.finish(.success(thing))
    }
    executor.run()
    #expect(await waiting.finished())

    withExtendedLifetime(consume source) {}

    #expect(result == nil)
  }
}
