import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct AllLimitTests {
  struct Broken: Error, Equatable {}

  let sources = (0..<4).map { _ in TaskSource<Int, Broken>() }
  let parts = (0..<3).map { _ in ProgressiveTaskSource<Double, Int, Broken>() }
  let made = Shared<[Int]>([])

  private func all(limit: Int) -> PublishedTask<[Int], Broken> {
    MiniRex.all(0..<4, limit: limit) { [sources, made] index in
      made.append(index)
      return sources[index].publisher
    }
  }

  @Test func `all with a limit bounds the running tasks and keeps the order of inputs`() {
    let recorder = Recorder(all(limit: 2))
    #expect(made.value == [0, 1])
    sources[1].finish(.success(1))
    #expect(made.value == [0, 1, 2])
    sources[2].finish(.success(2))
    #expect(made.value == [0, 1, 2, 3])
    sources[3].finish(.success(3))
    #expect(recorder.updates == [])
    sources[0].finish(.success(0))
    #expect(recorder.updates == [.success([0, 1, 2, 3])])
    #expect(recorder.hasEnded)
  }

  @Test func `all of no inputs succeeds immediately`() {
    let none = MiniRex.all([Int](), limit: 1) { PublishedTask<Int, Never>.success($0) }
    #expect(Recorder(none).updates == [.success([])])
    let parts = MiniRex.all([Int](), limit: 1) { ProgressiveTask<Double, Int, Never>(.success($0)) }
    #expect(Recorder(parts).updates == [.finished(.success([]))])
  }

  @Test func `the first failure cancels the running tasks and stops the transform`() {
    let recorder = Recorder(all(limit: 2))
    sources[1].finish(.failure(Broken()))
    #expect(recorder.updates == [.failure(Broken())])
    #expect(made.value == [0, 1])
    #expect(sources[0].subscriberCount == 0)
  }

  @Test func `after a failure inside subscribe, no further task is created`() {
    let publisher = MiniRex.all(0..<4, limit: 2) { [made] index -> PublishedTask<Int, Broken> in
      made.append(index)
      return index == 1 ? .failure(Broken()) : .success(index)
    }
    #expect(Recorder(publisher).updates == [.failure(Broken())])
    #expect(made.value == [0, 1])
  }

  @Test func `R18 one task without a result makes all finish without a result`() {
    let sources = (0..<3).map { _ in Shared<TaskSource<Int, Broken>?>(TaskSource()) }
    let publishers = sources.compactMap { $0.value?.publisher }
    let recorder = Recorder(MiniRex.all(0..<3, limit: 2) { publishers[$0] })
    // Takes the source out, so that it is released outside the lock.
    _ = sources[0].change { $0.take() }
    sources[2].value?.finish(.success(2))
    #expect(!recorder.hasEnded)
    sources[1].value?.finish(.success(1))
    #expect(recorder.updates == [])
    #expect(recorder.hasEnded)
  }

  @Test func `R19 all subscribers share one run, and it restarts after the last cancellation`() {
    let publisher = all(limit: 1)
    let first = Recorder(publisher)
    let second = Recorder(publisher)
    sources[0].finish(.success(0))
    #expect(made.value == [0, 1])
    first.invalidate()
    #expect(sources[1].subscriberCount == 1)
    second.invalidate()
    #expect(sources[1].subscriberCount == 0)
    sources[1].finish(.success(1))
    #expect(made.value == [0, 1])

    let third = Recorder(publisher)
    #expect(made.value == [0, 1, 0, 1, 2])
    for index in 2..<4 { sources[index].finish(.success(index)) }
    #expect(third.updates == [.success([0, 1, 2, 3])])
    #expect(Recorder(publisher).updates == [.success([0, 1, 2, 3])])
    #expect(made.value.count == 6)
    #expect(first.updates == [] && second.updates == [])
  }

  @Test func `R3 10,000 tasks that finish immediately use constant stack`() {
    let count = chainSteps(overflowingDepth)
    onThread(stackSize: 512 * 1_024) {
      let alive = Shared(0)
      let mostAlive = Shared(0)
      let first = TaskSource<Int, Never>()
      let publisher = MiniRex.all(0..<count, limit: 4) { number -> PublishedTask<Int, Never> in
        if number == 0 { return first.publisher }
        let now = alive.increment()
        mostAlive.change { $0 = max($0, now) }
        let witness = Witness { alive.increment(by: -1) }
        return PublishedTask { finish in
          finish(.success(number))
          return Subscription { witness.touch() }
        }
      }
      let sum = Shared(0)
      let subscription = publisher.subscribe { sum.value = $0.get().reduce(0, +) }
      first.finish(.success(0))
      #expect(sum.value == count * (count - 1) / 2)
      #expect(mostAlive.value <= 5)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R18 concurrent successes keep the order of inputs`() async {
    for _ in 0..<scaled(100) {
      let publisher = MiniRex.all(0..<100, limit: 4) { number in
        PublishedTask<Int, Never> {
          if number % 3 == 0 { await Task.yield() }
          return number
        }
      }
      #expect(await publisher.result == .success(Array(0..<100)))
    }
  }

  @Test func `R32 async invalidateAndWait waits for all running tasks`() async {
    let returned = Shared(0)
    let publisher = MiniRex.all(0..<9, limit: 3) { _ in
      PublishedTask<Int, Never> {
        while !Task.isCancelled { await Task.yield() }
        return returned.increment()
      }
    }
    let subscription = publisher.subscribe { _ in }
    await subscription.invalidateAndWait()
    #expect(returned.value == 3)
  }

  @Test func `R6 a task created during the cancellation is released`() {
    let subscription = Shared<Subscription?>(nil)
    let publisher = MiniRex.all(0..<4, limit: 1) { [sources, made] index in
      made.append(index)
      if index == 1 { subscription.value?.invalidate() }
      return sources[index].publisher
    }
    subscription.value = publisher.subscribe { _ in }
    for source in sources { source.finish(.success(1)) }
    #expect(made.value == [0, 1])
    #expect(sources.allSatisfy { $0.subscriberCount == 0 })
  }

  @Test func `progress is the weighted sum over all inputs`() {
    let recorder = Recorder(
      MiniRex.all(0..<3, limit: 2, weights: [1, 1, 2]) { [parts] in parts[$0].publisher })
    parts[0].report(0.5)
    parts[2].report(0.5)
    parts[1].finish(.success(1))
    parts[0].finish(.success(0))
    parts[2].finish(.success(2))
    #expect(
      recorder.updates
        == [0.125, 0.375, 0.625, 0.75, 1].map { .progress($0) } + [.finished(.success([0, 1, 2]))])
  }

  @Test func `progress ends with exactly 1 in spite of rounding`() {
    let weights = (0..<1_000).map { 0.1 + Double($0 % 7) / 3 }
    let publisher = MiniRex.all(0..<1_000, limit: 3, weights: weights) {
      ProgressiveTask<Double, Int, Never>.sequence([0.1, 0.7], .success($0))
    }
    let progress = Recorder(publisher).updates.dropLast()
    #expect(progress.last == .progress(1))
    let all = MiniRex.all((0..<10).map { ProgressiveTask<Double, Int, Never>(.success($0)) })
    #expect(Recorder(all).updates.dropLast().last == .progress(1))
  }
}
