import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ThrottleProgressTests {
  private struct Broken: Error, Equatable {}

  let clock = ManualClock()

  @Test func `throttleProgress emits the latest progress per interval, and the result immediately`()
  {
    let source = ProgressiveTaskSource<Int, String, Never>()
    let recorder = Recorder(
      source.publisher.throttleProgress(for: .seconds(1), clock: clock))

    source.report(1)
    source.report(2)
    source.report(3)
    #expect(recorder.updates == [.progress(1)])
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [.progress(1), .progress(3)])
    source.report(4)
    source.finish(.success("end"))

    #expect(recorder.updates == [.progress(1), .progress(3), .finished(.success("end"))])
    #expect(recorder.hasEnded && clock.sleeperCount == 0)
  }

  @Test func `throttleProgress is silent without progress, and passes a failure`() {
    let source = ProgressiveTaskSource<Int, String, Broken>()
    let recorder = Recorder(
      source.publisher.throttleProgress(for: .seconds(1), clock: clock))
    source.report(1)
    clock.advance(by: .seconds(5))
    source.report(2)
    source.report(3)
    source.finish(.failure(Broken()))

    #expect(recorder.updates == [.progress(1), .progress(2), .finished(.failure(Broken()))])
  }

  @Test func `throttleProgress shares the work, and stops its timer with its subscription`() {
    let starts = Shared(0)
    let reporter = Shared<(@Sendable (Int) -> Void)?>(nil)
    let task = ProgressiveTask<Int, String, Never> { report, _ in
      starts.increment()
      reporter.value = report
      return Subscription {}
    }.throttleProgress(for: .seconds(1), clock: clock)
    let (first, second) = (Recorder(task), Recorder(task))

    reporter.value?(1)
    reporter.value?(2)
    #expect(starts.value == 1 && clock.sleeperCount == 2)
    first.invalidate()
    second.invalidate()

    #expect(clock.sleeperCount == 0)
    #expect(first.updates == [.progress(1)])
  }

  @Test func `throttleProgress with 0 emits every progress`() {
    let source = ProgressiveTaskSource<Int, String, Never>()
    let recorder = Recorder(source.publisher.throttleProgress(for: .zero, clock: clock))

    for number in 0..<5 { source.report(number) }

    #expect(recorder.updates == (0..<5).map { .progress($0) })
  }
}
