import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

struct Failed: Error, Equatable {
  var number = 0
}

/// Work that a test finishes by hand, with counters of its runs and cancellations.
final class DrivenWork<Success: Sendable>: Sendable {
  let starts = Shared(0)
  let stops = Shared(0)
  private let finishers = Shared<[@Sendable (Result<Success, Failed>) -> Void]>([])

  var task: PublishedTask<Success, Failed> {
    PublishedTask { finish in
      self.starts.increment()
      self.finishers.change { $0.append(finish) }
      return Subscription { self.stops.increment() }
    }
  }

  func finish(_ result: Result<Success, Failed>, run: Int? = nil) {
    let finishers = finishers.value
    finishers[run ?? finishers.count - 1](result)
  }

  func forget() {
    finishers.value = []
  }
}

@Suite(.light) struct TaskTests {
  // R18

  @Test func `R18 a task delivers one result, to late subscribers as well`() {
    let source = TaskSource<Int, Failed>()
    let early = Recorder(source.publisher)

    #expect(source.finish(.success(1)))
    #expect(!source.finish(.failure(Failed())))
    let late = Recorder(source.publisher)

    #expect(early.updates == [.success(1)])
    #expect(late.updates == [.success(1)])
    #expect(early.hasEnded && late.hasEnded)
    #expect(!early.isSubscribed && !late.isSubscribed)
    #expect(source.subscriberCount == 0)
  }

  private func short(_ update: TaskUpdate<Int, String, Never>) -> String {
    switch update {
    case .progress(let number): "\(number)"
    case .finished(.success(let text)): text
    }
  }

  @Test func `R18 a task whose source is deallocated finishes without a result`() {
    var source: TaskSource<Int, Never>? = TaskSource()
    let publisher = source?.publisher
    let early = publisher.map { Recorder($0) }

    source = nil
    let late = publisher.map { Recorder($0) }

    for recorder in [early, late] {
      #expect(recorder?.updates == [])
      #expect(recorder?.hasEnded == true)
    }
    withExtendedLifetime(source) {}
  }

  // R19

  @Test func `R19 concurrent first subscribers start the work once`() {
    let work = DrivenWork<Int>()
    let task = work.task
    let results = Shared<[Result<Int, Failed>]>([])
    let bag = SubscriptionBag()

    onThreads(4) { _ in
      for _ in 0..<50 {
        task.subscribe { result in results.change { $0.append(result) } }.store(in: bag)
      }
    }
    work.finish(.success(1))

    #expect(work.starts.value == 1)
    #expect(results.value.count == 200)
    #expect(work.stops.value == 1)
  }

  @Test
  func `R19 work runs once and is canceled with its last subscriber`() {
    let work = DrivenWork<Int>()
    let task = work.task
    let first = Recorder(task)
    let second = Recorder(task)

    first.invalidate()
    #expect(work.stops.value == 0)
    second.invalidate()
    second.invalidate()
    #expect(work.stops.value == 1)

    let third = Recorder(task)
    work.finish(.success(1), run: 0)
    #expect(third.updates == [])
    work.finish(.success(2), run: 1)

    #expect(third.updates == [.success(2)])
    #expect(first.updates == [] && second.updates == [])
    #expect(work.starts.value == 2)
  }

  @Test func `R19 a run without a result is restarted by the next subscriber`() {
    let work = DrivenWork<Int>()
    let task = work.task
    let first = Recorder(task)
    work.forget()
    #expect(first.hasEnded)

    let second = Recorder(task)
    work.finish(.success(1))

    #expect(second.updates == [.success(1)])
    #expect(work.starts.value == 2)
  }

  @Test func `R19 progress of a canceled run is discarded`() {
    let reports = Shared<[@Sendable (Int) -> Void]>([])
    let task = ProgressiveTask<Int, String, Never> { report, finish in
      reports.change { $0.append(report) }
      return Subscription { withExtendedLifetime(finish) {} }
    }
    let first = Recorder(task)
    reports.value[0](1)
    first.invalidate()

    let second = Recorder(task)
    reports.value[0](2)
    reports.value[1](3)

    #expect(second.updates.map(short) == ["3"])
  }

  @Test func `R19 async work is canceled with its last subscriber, unless it keeps running`() async
  {
    let cancelled = TaskSource<Bool, Never>()
    let began = TaskSource<Void, Never>()
    let task = PublishedTask { () async -> Int in
      await withTaskCancellationHandler {
        _ = began.finish(.success(()))
        while !Task.isCancelled { await Task.yield() }
      } onCancel: {
        cancelled.finish(.success(true))
      }
      return 1
    }
    let recorder = Recorder(task)
    _ = await Recorder(began.publisher).next()
    recorder.invalidate()
    #expect(await Recorder(cancelled.publisher).next() == [.success(true)])

    let gate = TaskSource<Void, Never>()
    let runs = Shared(0)
    let keeping = PublishedTask(.keepsRunning) { () async -> Int in
      _ = await Recorder(gate.publisher).next()
      return runs.increment()
    }
    Recorder(keeping).invalidate()
    gate.finish(.success(()))
    let late = Recorder(keeping)
    #expect(await late.next() == [.success(1)])
    #expect(runs.value == 1)
  }

  @Test func `R19 the result of work that ignored its cancellation is dropped`() async {
    let gate = TaskSource<Void, Never>()
    let done = TaskSource<Void, Never>()
    let runs = Shared(0)
    let task = PublishedTask { () async -> Int in
      let run = runs.increment()
      if run == 1 {
        await withCheckedContinuation { continuation in
          gate.publisher.subscribe { _ in continuation.resume() }.detached()
        }
        done.finish(.success(()))
      }
      return run
    }
    let first = Recorder(task)
    await until { runs.value > 0 }
    first.invalidate()
    let second = Recorder(task)
    #expect(await second.next() == [.success(2)])

    gate.finish(.success(()))
    _ = await Recorder(done.publisher).next()

    #expect(Recorder(task).updates == [.success(2)])
    #expect(first.updates == [])
  }

  @Test func `a task keeps the failure type of its async work`() async {
    @Sendable func fetch() async throws(Failed) -> Int { throw Failed(number: 3) }
    let named: PublishedTask<Int, Failed> = PublishedTask(fetch)
    let written = PublishedTask { () async throws(Failed) in try await fetch() }

    #expect(await Recorder(named).next() == [.failure(Failed(number: 3))])
    #expect(await Recorder(written).next() == [.failure(Failed(number: 3))])
  }

  @Test func `R13 an ended subscription does not retain the result or its closures`() {
    let releases = Shared(0)
    let gate = TaskSource<Int, Never>()
    let subscriptions = {
      let witness = Witness { releases.increment() }
      let atOnce = PublishedTask<Witness, Never> { finish in
        finish(.success(Witness { releases.increment() }))
        return .ended
      }
      let later = gate.publisher.flatMap { _ in
        witness.touch()
        return .success(1)
      }
      return [atOnce.subscribe { _ in }, later.subscribe { _ in }]
    }()

    gate.finish(.success(1))

    #expect(releases.value == 2)
    #expect(subscriptions.allSatisfy { !$0.isSubscribed })
  }

  @Test func `first does not evaluate its predicate after a match`() {
    let questions = Shared(0)
    let task = Broadcaster.sequence([1, 2, 3]).first { _ in questions.increment() > 0 }

    #expect(Recorder(task).updates == [.success(1)])
    #expect(questions.value == 1)
  }

  // Operators

  @Test func `map and mapError transform once per subscriber and share the run`() {
    let work = DrivenWork<Int>()
    let calls = Shared(0)
    let mapped = work.task
    let task = mapped.map { number in
      calls.increment()
      return number * 2
    }.mapError { Failed(number: $0.number + 1) }
    let one = Recorder(task)
    let two = Recorder(task)

    work.finish(.success(2))

    #expect(one.updates == [.success(4)] && two.updates == [.success(4)])
    #expect(calls.value == 2)
    #expect(work.starts.value == 1)
  }

  @Test func `flatMap continues after a success, and recover after a failure`() {
    let first = DrivenWork<Int>()
    let second = DrivenWork<Int>()
    let third = DrivenWork<Int>()
    let calls = Shared(0)
    let firstTask = first.task
    let secondTask = second.task
    let task = firstTask.flatMap { _ in
      calls.increment()
      return secondTask
    }.recover { _ in third.task }
    let one = Recorder(task)
    let two = Recorder(task)

    first.finish(.success(1))
    second.finish(.failure(Failed()))
    third.finish(.success(3))

    #expect(one.updates == [.success(3)] && two.updates == [.success(3)])
    #expect(calls.value == 1)
    #expect([first, second, third].map(\.starts.value) == [1, 1, 1])
  }

  @Test func `canceling a flatMap cancels the task that runs`() {
    let first = DrivenWork<Int>()
    let second = DrivenWork<Int>()
    let task = first.task.flatMap { _ in second.task }
    Recorder(task).invalidate()
    #expect(first.stops.value == 1)

    let recorder = Recorder(task)
    first.finish(.success(1))
    recorder.invalidate()

    #expect(second.stops.value == 1)
    #expect(second.starts.value == 1)
  }

  @Test func `first finishes with the first match and cancels its subscription`() {
    let source = BroadcastSource<Int>()
    let task = source.publisher.first { $0 > 1 }
    let recorder = Recorder(task)
    #expect(source.subscriberCount == 1)

    for number in 1...3 { source.broadcast(number) }

    #expect(recorder.updates == [.success(2)])
    #expect(source.subscriberCount == 0)
    #expect(Recorder(task).updates == [.success(2)])
    #expect(Recorder(PublishedProperty(7).publisher.first()).updates == [.success(7)])
  }

  @Test func `R26 first finishes without a result when its source finishes`() {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.first())
    source.end()
    #expect(recorder.updates == [])
    #expect(recorder.hasEnded)
  }

  @Test func `all succeeds with all values, as a tuple or an array`() {
    let number = TaskSource<Int, Failed>()
    let text = TaskSource<String, Failed>()
    let pair = Recorder(all(number.publisher, text.publisher).map { "\($0.0)\($0.1)" })
    let sources = (0..<3).map { _ in TaskSource<Int, Failed>() }
    let array = Recorder(all(sources.map(\.publisher)))

    text.finish(.success("a"))
    number.finish(.success(1))
    for index in [2, 0, 1] { sources[index].finish(.success(index)) }

    #expect(pair.updates == [.success("1a")])
    #expect(array.updates == [.success([0, 1, 2])])
    #expect(Recorder(all([PublishedTask<Int, Failed>]())).updates == [.success([])])
  }

  @Test func `all fails with the first failure and cancels the other tasks`() {
    let works = (0..<3).map { _ in DrivenWork<Int>() }
    let recorder = Recorder(all(works.map(\.task)))

    works[1].finish(.failure(Failed(number: 1)))
    works[0].finish(.failure(Failed(number: 0)))

    #expect(recorder.updates == [.failure(Failed(number: 1))])
    #expect(works.map(\.stops.value) == [1, 1, 1])
  }

  @Test func `all collects every success of concurrent tasks`() async {
    for _ in 0..<scaled(300) {
      let tasks = (0..<4).map { number in PublishedTask { () async -> Int in number } }
      #expect(await Recorder(all(tasks)).next() == [.success([0, 1, 2, 3])])
    }
  }

  @Test func `all reports the weighted sum of progress before the result`() {
    let one = ProgressiveTaskSource<Double, Int, Never>()
    let two = ProgressiveTaskSource<Double, Int, Never>()
    let recorder = Recorder(all([one.publisher, two.publisher], weights: [3, 1]))
    let pair = Recorder(all(one.publisher, two.publisher))

    one.report(0.5)
    two.report(0.5)
    one.finish(.success(1))
    two.report(7)
    two.finish(.success(2))

    #expect(
      recorder.updates.map { "\($0)" } == [
        "progress(0.375)", "progress(0.5)", "progress(0.875)", "progress(1.0)",
        "finished(Swift.Result<Swift.Array<Swift.Int>, Swift.Never>.success([1, 2]))",
      ])
    #expect(pair.updates.count == 5)
  }

  @Test func `map, flatMap, and recover preserve progress`() {
    let first = ProgressiveTaskSource<Int, Int, Failed>()
    let second = ProgressiveTaskSource<Int, String, Failed>()
    let last = ProgressiveTaskSource<Int, String, Never>()
    let task = first.publisher.map { $0 + 1 }.flatMap { _ in second.publisher }
      .recover { _ in last.publisher }.mapProgress { $0 * 10 }
    let recorder = Recorder(task)
    let result = Recorder(task.withoutProgress())

    first.report(1)
    first.finish(.success(1))
    second.report(2)
    second.finish(.failure(Failed()))
    last.report(3)
    last.finish(.success("done"))

    #expect(recorder.updates.map(short) == ["10", "20", "30", "done"])
    #expect(result.updates == [.success("done")])
  }

  @Test func `subscribe accepts one closure for each case of a task update`() {
    let source = ProgressiveTaskSource<Int, String, Failed>()
    let seen = Shared<[String]>([])
    let subscription = source.publisher.subscribe(
      success: { text in seen.change { $0.append(text) } },
      failure: { _ in seen.change { $0.append("failed") } },
      progress: { number in seen.change { $0.append("\(number)") } })
    source.report(1)
    source.finish(.failure(Failed()))

    #expect(seen.value == ["1", "failed"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `subscribe without closures does not subscribe`() {
    let parts = [
      TaskSource<Int, Failed>().publisher.subscribe(success: nil, failure: nil),
      TaskSource<Int, Never>().publisher.subscribe(),
      ProgressiveTaskSource<Int, Int, Failed>().publisher.subscribe(success: nil, failure: nil),
      ProgressiveTaskSource<Int, Int, Never>().publisher.subscribe(),
    ]

    #expect(!parts.contains { $0.isSubscribed })
  }

  @Test func `an unlabeled closure receives every update of a task`() {
    let task = TaskSource<Int, Failed>()
    let steps = ProgressiveTaskSource<Int, Int, Failed>()
    let sureSteps = ProgressiveTaskSource<Int, Int, Never>()
    let count = Shared(0)
    let callCount: @Sendable () -> Void = { count.change { $0 += 1 } }
    let subscriptions = [
      task.publisher.subscribe { _ in callCount() },
      task.publisher.subscribe {
        withExtendedLifetime($0) {}
        callCount()
      },
      steps.publisher.subscribe { _ in callCount() },
      steps.publisher.subscribe { update in
        withExtendedLifetime(update) {}
        callCount()
      },
      sureSteps.publisher.subscribe { _ in callCount() },
    ]
    task.finish(.failure(Failed()))
    steps.report(1)
    steps.finish(.failure(Failed()))
    sureSteps.report(1)
    sureSteps.finish(.success(2))

    #expect(count.value == 2 + 4 + 2)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a task that cannot fail needs no failure closure`() {
    let task = TaskSource<Int, Never>()
    let steps = ProgressiveTaskSource<Int, Int, Never>()
    let seen = Shared<[Int]>([])
    let subscriptions = [
      task.publisher.subscribe(success: { number in seen.change { $0.append(number) } }),
      steps.publisher.subscribe(progress: { number in seen.change { $0.append(number) } }),
      steps.publisher.subscribe(success: { number in seen.change { $0.append(number) } }),
    ]
    steps.report(1)
    steps.finish(.success(2))
    task.finish(.success(3))

    #expect(seen.value == [1, 2, 3])
    withExtendedLifetime(subscriptions) {}
  }
}
