import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct TimeoutTests {
  struct Broken: Error, Equatable {}

  let clock = ManualClock()

  @Test func `timeout passes a result within its duration, and wraps a failure`() {
    let source = TaskSource<Int, Broken>()
    let limited = source.publisher.timeout(after: .seconds(1), clock: clock)
    let recorder = Recorder(limited)
    source.finish(.success(1))
    #expect(recorder.updates == [.success(1)])
    #expect(recorder.hasEnded)
    #expect(clock.sleeperCount == 0)

    let broken = TaskSource<Int, Broken>()
    let failed = Recorder(broken.publisher.timeout(after: .seconds(1), clock: clock))
    broken.finish(.failure(Broken()))
    #expect(failed.updates == [.failure(.failed(Broken()))])
  }

  @Test func `R18 timeout fails once after its duration and ignores a late result`() {
    let source = TaskSource<Int, Never>()
    let limited = source.publisher.timeout(after: .seconds(1), clock: clock)
    let recorder = Recorder(limited)
    clock.advance(by: .milliseconds(999))
    #expect(recorder.updates == [])
    clock.advance(by: .milliseconds(1))
    #expect(recorder.updates == [.failure(.timedOut)])
    source.finish(.success(1))
    #expect(recorder.updates == [.failure(.timedOut)])
    #expect(Recorder(limited).updates == [.failure(.timedOut)])
  }

  @Test func `R19 timeout cancels the work after its duration`() {
    let starts = Shared(0)
    let cancels = Shared(0)
    let work = PublishedTask<Int, Never> { finish in
      starts.increment()
      return Subscription { [finish] in
        cancels.increment()
        finish(.success(7))
      }
    }
    let recorder = Recorder(work.timeout(after: .seconds(1), clock: clock))
    #expect(starts.value == 1)
    clock.advance(by: .seconds(1))
    #expect(cancels.value == 1)
    #expect(recorder.updates == [.failure(.timedOut)])
  }

  @Test func `R19 all subscribers share one run and one timer`() {
    let starts = Shared(0)
    let cancels = Shared(0)
    let limited = PublishedTask<Int, Never> { finish in
      starts.increment()
      return Subscription {
        withExtendedLifetime(finish) { _ = cancels.increment() }
      }
    }.timeout(after: .seconds(2), clock: clock)
    let first = Recorder(limited)
    clock.advance(by: .seconds(1))
    let second = Recorder(limited)
    #expect(starts.value == 1)
    #expect(clock.sleeperCount == 1)
    first.invalidate()
    #expect(cancels.value == 0)
    second.invalidate()
    #expect(cancels.value == 1)
    #expect(clock.sleeperCount == 0)

    let third = Recorder(limited)
    clock.advance(by: .milliseconds(1_999))
    #expect(starts.value == 2)
    #expect(third.updates == [])
    clock.advance(by: .milliseconds(1))
    #expect(third.updates == [.failure(.timedOut)])
    #expect(second.updates == [])
  }

  @Test func `R18 a task that finishes without a result finishes timeout immediately`() {
    let source = Shared<TaskSource<Int, Never>?>(TaskSource())
    guard let publisher = source.value?.publisher else { return }
    let recorder = Recorder(publisher.timeout(after: .seconds(1), clock: clock))
    source.value = nil
    #expect(recorder.hasEnded)
    #expect(recorder.updates == [])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `an existing result needs no timer`() {
    let recorder = Recorder(PublishedTask.success(1).timeout(after: .zero, clock: clock))
    #expect(recorder.updates == [.success(1)])
    #expect(clock.sleeperCount == 0)
    let late = Recorder(PublishedTask<Int, Never>.never.timeout(after: .zero, clock: clock))
    #expect(late.updates == [])
    clock.advance(by: .zero)
    #expect(late.updates == [.failure(.timedOut)])
  }

  @Test func `timeout passes and replays progress, which does not extend its duration`() {
    let source = ProgressiveTaskSource<Int, String, Broken>()
    let limited = source.publisher.timeout(after: .seconds(2), clock: clock)
    let events = Shared<[String]>([])
    func subscribe(_ name: String) -> Subscription {
      limited.subscribe(
        success: { value in events.change { $0.append("\(name) \(value)") } },
        failure: { error in events.change { $0.append("\(name) \(error)") } },
        progress: { amount in events.change { $0.append("\(name) \(amount)") } })
    }
    let early = subscribe("early")
    source.report(1)
    clock.advance(by: .seconds(1))
    source.report(2)
    let late = subscribe("late")
    clock.advance(by: .seconds(1))
    source.report(3)
    #expect(
      events.value == ["early 1", "early 2", "late 2", "early timedOut", "late timedOut"])
    withExtendedLifetime((early, late)) {}

    let broken = ProgressiveTaskSource<Int, String, Broken>()
    let failed = Recorder(broken.publisher.timeout(after: .seconds(2), clock: clock))
    broken.finish(.failure(Broken()))
    guard case .finished(.failure(.failed)) = failed.updates.last else {
      Issue.record("no failure")
      return
    }
  }

  @Test func `R25 a race between result and timeout gives one result`() {
    for round in 0..<scaled(1_000) {
      let clock = ManualClock()
      let source = TaskSource<Int, Never>()
      let recorder = Recorder(source.publisher.timeout(after: .seconds(1), clock: clock))
      onThreads(2) { index in
        if index == round % 2 {
          clock.advance(by: .seconds(1))
        } else {
          source.finish(.success(1))
        }
      }
      #expect(recorder.updates.count == 1)
      #expect(recorder.hasEnded)
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `timeout works with the real clock`() async {
    let recorder = Recorder(PublishedTask<Int, Never>.never.timeout(after: .microseconds(50)))
    #expect(await recorder.next() == [.failure(.timedOut)])
  }

  @Test func `a clock that runs actions inside schedule fails the task immediately`() {
    let recorder = Recorder(
      PublishedTask<Int, Never>.never.timeout(after: .seconds(1), clock: HastyClock()))
    #expect(recorder.updates == [.failure(.timedOut)])
    #expect(recorder.hasEnded)
  }

  @Test func `TimeoutError is Hashable when its failure is`() {
    let failures: Set<TimeoutError<Reason>> = [.timedOut, .failed(.one), .failed(.one)]
    #expect(failures.count == 2)
  }

  enum Reason: Error { case one }
}
