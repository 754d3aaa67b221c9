import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct RetryingTests {
  struct Broken: Error, Equatable { let attempt: Int }

  let clock = ManualClock()
  let attempts = Shared(0)

  /// A task that fails until the given attempt.
  private func task(
    times: Int, delay: RetryDelay, until success: Int = .max
  ) -> PublishedTask<Int, Broken> {
    PublishedTask.retrying(times: times, delay: delay, clock: clock) {
      [attempts] () async throws(Broken) in
      let attempt = attempts.increment()
      if attempt < success { throw Broken(attempt: attempt) }
      return attempt
    }
  }

  /// Returns the delays before `times` retries.
  private func delays(_ delay: RetryDelay, times: Int) async -> [Duration] {
    let clock = ManualClock()
    let recorder = Recorder(
      PublishedTask.retrying(times: times, delay: delay, clock: clock) {
        () async throws(Broken) -> Int in throw Broken(attempt: 0)
      })
    var delays: [Duration] = []
    for _ in 0..<times {
      await clock.waitForSleepers(1)
      let before = clock.now
      clock.advanceToNext()
      delays.append(before.duration(to: clock.now))
    }
    _ = await recorder.next()
    return delays
  }

  @Test func `retrying repeats failed work after the delay until it succeeds`() async {
    let recorder = Recorder(task(times: 5, delay: .constant(.seconds(1)), until: 3))
    await clock.waitForSleepers(1)
    #expect(attempts.value == 1)
    await clock.advance(by: .seconds(1))
    await clock.waitForSleepers(1)
    #expect(attempts.value == 2)
    await clock.advance(by: .seconds(1))
    #expect(await recorder.next() == [.success(3)])
    // The task finishes after the update, on the thread that delivers both.
    await until { recorder.hasEnded }
  }

  @Test func `retrying passes the number of the attempt, from 1 in each run`() async {
    let numbers = Shared<[Int]>([])
    let plain = PublishedTask.retrying(times: 2) { (attempt: Int) async throws(Broken) -> Int in
      numbers.change { $0.append(attempt) }
      throw Broken(attempt: attempt)
    }
    #expect(await plain.result == .failure(Broken(attempt: 3)))
    let loud = ProgressiveTask<Int, Int, Broken>.retrying(times: 2) { attempt, report in
      report(attempt)
      return attempt
    }
    let updates = Recorder(loud)
    await until { updates.hasEnded }

    #expect(numbers.value == [1, 2, 3])
    #expect(updates.updates == [.progress(1), .finished(.success(1))])
  }

  @Test func `retrying fails with the typed failure of the last attempt`() async {
    let recorder = Recorder(task(times: 2, delay: .constant(.zero)))
    #expect(await recorder.next() == [.failure(Broken(attempt: 3))])
    #expect(attempts.value == 3)
  }

  @Test func `retrying 0 times runs the work once`() async {
    let recorder = Recorder(task(times: 0, delay: .constant(.seconds(1))))
    #expect(await recorder.next() == [.failure(Broken(attempt: 1))])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `R19 all subscribers share one run, and a finished run never repeats`() async {
    let publisher = task(times: 1, delay: .constant(.seconds(1)), until: 2)
    let first = Recorder(publisher)
    await clock.waitForSleepers(1)
    let second = Recorder(publisher)
    await clock.advance(by: .seconds(1))
    #expect(await first.next() == [.success(2)])
    #expect(await second.next() == [.success(2)])
    #expect(Recorder(publisher).updates == [.success(2)])
    #expect(attempts.value == 2)
  }

  @Test func `R19 the last cancellation between two attempts stops the retries`() async {
    let publisher = task(times: 5, delay: .constant(.seconds(1)), until: 3)
    let recorder = Recorder(publisher)
    await clock.waitForSleepers(1)
    recorder.invalidate()
    #expect(clock.sleeperCount == 0)

    let next = Recorder(publisher)
    await clock.waitForSleepers(1)
    await clock.advance(by: .seconds(1))
    #expect(await next.next() == [.success(3)])
    #expect(recorder.updates == [])
    #expect(attempts.value == 3)
  }

  @Test func `R19 an attempt canceled while it runs is not retried`() async {
    let ended = TaskSource<Void, Never>()
    let publisher = PublishedTask.retrying(times: 5, clock: clock) {
      [attempts, clock] () async throws in
      attempts.increment()
      defer { ended.finish(.success(())) }
      try await clock.sleep(for: .seconds(1))
    }
    let end = Recorder(ended.publisher.broadcaster.map { _ in 1 })
    let recorder = Recorder(publisher.broadcaster.map { _ in 1 })
    await clock.waitForSleepers(1)
    recorder.invalidate()
    #expect(await end.next() == [1])
    #expect(attempts.value == 1)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a clock that throws ends the retries with the last failure`() async {
    let publisher = PublishedTask.retrying(
      times: 5, delay: .constant(.seconds(1)), clock: StoppedClock()
    ) { [attempts] () async throws(Broken) -> Int in
      throw Broken(attempt: attempts.increment())
    }
    #expect(await Recorder(publisher).next() == [.failure(Broken(attempt: 1))])
  }

  @Test func `a failure that 'while' rejects is not retried`() async {
    let asked = Shared<[Int]>([])
    let publisher = PublishedTask.retrying(
      times: 3, delay: .constant(.seconds(1)), clock: clock,
      while: { (failure: Broken) in
        asked.append(failure.attempt)
        return failure.attempt < 2
      }
    ) { [attempts] () async throws(Broken) -> Int in
      throw Broken(attempt: attempts.increment())
    }
    let recorder = Recorder(publisher)
    await clock.waitForSleepers(1)
    await clock.advance(by: .seconds(1))
    #expect(await recorder.next() == [.failure(Broken(attempt: 2))])
    #expect(asked.value == [1, 2])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `'while' does not run for the last failure or a canceled attempt`()
    async
  {
    let asked = Shared(0)
    let last = PublishedTask.retrying(times: 1, while: { _ in asked.increment() > 0 }) {
      () async throws(Broken) -> Int in throw Broken(attempt: 0)
    }
    #expect(await last.result == .failure(Broken(attempt: 0)))
    #expect(asked.value == 1)

    let cancelled = PublishedTask.retrying(times: 1, while: { _ in asked.increment() > 0 }) {
      [clock] in try await clock.sleep(for: .seconds(1))
    }
    let subscription = cancelled.subscribe { _ in }
    await clock.waitForSleepers(1)
    await subscription.invalidateAndWait()
    #expect(asked.value == 1)
  }

  @Test func `progress of every attempt is published, and restarts with the next`() async {
    let publisher = ProgressiveTask.retrying(times: 2, delay: .constant(.seconds(1)), clock: clock)
    {
      [attempts] (report: @escaping @Sendable (Int) -> Void) async throws(Broken) -> Int in
      let attempt = attempts.increment()
      for step in 1...3 {
        report(10 * attempt + step)
        if step == attempt, attempt < 3 { throw Broken(attempt: attempt) }
      }
      return attempt
    }
    let recorder = Recorder(publisher)
    await clock.waitForSleepers(1)
    #expect(recorder.updates == [.progress(11)])
    #expect(Recorder(publisher).updates == [.progress(11)])
    await clock.advance(by: .seconds(1))
    await clock.waitForSleepers(1)
    await clock.advance(by: .seconds(1))
    await until { recorder.hasEnded }
    #expect(
      recorder.updates
        == [11, 21, 22, 31, 32, 33].map { .progress($0) } + [.finished(.success(3))])
  }

  @Test func `progress reported after an attempt has failed is dropped`() async {
    let reports = Shared<[@Sendable (Int) -> Void]>([])
    let publisher = ProgressiveTask.retrying(times: 1, delay: .constant(.seconds(1)), clock: clock)
    {
      [attempts, clock] (report: @escaping @Sendable (Int) -> Void) async throws -> Int in
      reports.append(report)
      if attempts.increment() == 1 { throw Broken(attempt: 1) }
      try await clock.sleep(for: .seconds(1))
      return 2
    }
    let recorder = Recorder(publisher.map { $0 }.mapError { _ in Broken(attempt: 0) })
    await clock.waitForSleepers(1)
    reports.value[0](1)
    await clock.advance(by: .seconds(1))
    await clock.waitForSleepers(1)
    reports.value[0](2)
    reports.value[1](3)
    await clock.advance(by: .seconds(1))
    await until { recorder.hasEnded }
    #expect(recorder.updates == [.progress(3), .finished(.success(2))])
  }

  @Test func `R19 progressive work is not retried after the last cancellation`() async {
    let publisher = ProgressiveTask.retrying(times: 5, delay: .constant(.seconds(1)), clock: clock)
    {
      [attempts] (report: @escaping @Sendable (Int) -> Void) async throws(Broken) -> Int in
      report(0)
      throw Broken(attempt: attempts.increment())
    }
    let recorder = Recorder(publisher)
    await clock.waitForSleepers(1)
    recorder.invalidate()
    #expect(clock.sleeperCount == 0)
    #expect(attempts.value == 1)
  }

  @Test func `an exponential delay doubles up to its limit`() async {
    let delays = await delays(.exponential(from: .seconds(1), upTo: .seconds(5)), times: 5)
    #expect(delays == [1, 2, 4, 5, 5].map { .seconds($0) })
  }

  @Test func `R25 the same generator seed gives the same jitter`() async {
    func deadlines(seed: UInt64) async -> [Duration] {
      await delays(
        .exponential(
          from: .seconds(1), upTo: .seconds(60), jitter: 0.5, using: SeededGenerator(seed: seed)),
        times: 4)
    }
    let first = await deadlines(seed: 1)
    for _ in 0..<scaled(200) { #expect(await deadlines(seed: 1) == first) }
    #expect(await deadlines(seed: 2) != first)
    for (delay, full) in zip(first, [1, 2, 4, 8]) {
      #expect(delay <= .seconds(full) && delay >= .milliseconds(500 * full))
    }
  }

  @Test func `full jitter spreads a delay from 0 to its full length`() async {
    var generator = SeededGenerator(seed: 7)
    let delays = await delays(
      .exponential(from: .seconds(1), upTo: .seconds(4), jitter: 1, using: generator), times: 100)
    let longest = [1, 2].map { Duration.seconds($0) } + Array(repeating: .seconds(4), count: 98)
    // The seeded generator determines every delay.
    #expect(delays == longest.map { $0 * (1 - Double.random(in: 0...1, using: &generator)) })
    let parts = zip(delays, longest).map { $0 / $1 }
    #expect(parts.contains { $0 < 0.1 } && parts.contains { $0 > 0.9 })
    #expect(parts.allSatisfy { $0 >= 0 && $0 <= 1 })
  }
}
