import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DelayedConstantTests {
  struct Broken: Error, Equatable {}

  let clock = ManualClock()

  @Test func `a sequence with an interval restarts for each subscriber and finishes`() {
    let sequence = Broadcaster.sequence(["a", "b", "c"], every: .seconds(1), clock: clock)
    let early = Recorder(sequence)
    clock.advance(by: .seconds(2))
    let late = Recorder(sequence)
    #expect(early.updates == ["a", "b"])
    #expect(!early.hasEnded)
    clock.advance(by: .seconds(1))
    #expect(early.updates == ["a", "b", "c"])
    #expect(early.hasEnded)
    #expect(late.updates == ["a"])
    #expect(Recorder(Broadcaster<Int>.sequence([], every: .seconds(1), clock: clock)).hasEnded)
  }

  @Test func `after a delay, constants emit all elements and finish`() {
    let sequence = Recorder(Broadcaster.sequence([1, 2], after: .seconds(1), clock: clock))
    let value = Recorder(PublishedValue.constant(3, after: .seconds(1), clock: clock))
    #expect(sequence.updates == [] && value.updates == [])
    clock.advance(by: .seconds(1))
    #expect(sequence.updates == [1, 2])
    #expect(value.updates == [3])
    #expect(sequence.hasEnded && value.hasEnded)
  }

  @Test func `a constant task emits its result inside subscribe and finishes`() {
    let success = Recorder(PublishedTask.success(1))
    let failure = Recorder(PublishedTask<Int, Broken>.failure(Broken()))
    let typed = Recorder(PublishedTask<Int, Broken>.success(2))
    #expect(success.updates == [.success(1)])
    #expect(failure.updates == [.failure(Broken())])
    #expect(typed.updates == [.success(2)])
    #expect(success.hasEnded && failure.hasEnded && typed.hasEnded)
  }

  @Test func `the failure type of a success is Never by default`() {
    let plain = PublishedTask.success(1)
    let said: PublishedTask<Int, Never> = .success(1)
    let other: PublishedTask<Int, Broken> = .success(1, after: .zero, clock: clock)
    let delayed = PublishedTask.success(1, after: .zero, clock: clock)
    #expect(type(of: plain) == PublishedTask<Int, Never>.self)
    #expect(type(of: said) == type(of: delayed))
    #expect(type(of: other) == PublishedTask<Int, Broken>.self)
  }

  @Test func `never does not emit or finish`() {
    let task = Recorder(PublishedTask<Int, Never>.never)
    let progressive = Recorder(ProgressiveTask<Int, Int, Never>.never)
    #expect(task.isSubscribed && progressive.isSubscribed)
    #expect(!task.hasEnded && !progressive.hasEnded)
  }

  @Test func `R19 a delayed task starts one timer with its first subscriber`() {
    let task = PublishedTask.success(1, after: .seconds(2), clock: clock)
    let early = Recorder(task)
    clock.advance(by: .seconds(1))
    let late = Recorder(task)
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    #expect(early.updates == [.success(1)])
    #expect(late.updates == [.success(1)])
    #expect(Recorder(task).updates == [.success(1)])
  }

  @Test func `R19 a delayed task restarts after its last subscriber canceled`() {
    let task = PublishedTask<Int, Broken>.failure(Broken(), after: .seconds(2), clock: clock)
    Recorder(task).invalidate()
    #expect(clock.sleeperCount == 0)
    clock.advance(by: .seconds(1))
    let recorder = Recorder(task)
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [])
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [.failure(Broken())])
  }

  private func text(_ update: TaskUpdate<Int, String, Never>) -> String { "\(update)" }

  @Test func `each subscriber receives a sequence of progress inside subscribe`() {
    let task = ProgressiveTask<Int, String, Never>.sequence([1, 2], .success("done"))
    for _ in 1...2 {
      let recorder = Recorder(task)
      #expect(recorder.updates.map(text).count == 3)
      #expect(recorder.updates.map(text).first == "progress(1)")
      #expect(recorder.hasEnded)
    }
  }

  @Test func `R18 delayed progress is shared, and replayed only while the task runs`() {
    let task = ProgressiveTask<Int, String, Never>.sequence(
      [1, 2], .success("done"), every: .seconds(1), clock: clock)
    let early = Recorder(task)
    clock.advance(by: .seconds(2))
    let late = Recorder(task)
    #expect(early.updates.map(text) == ["progress(1)", "progress(2)"])
    #expect(late.updates.map(text) == ["progress(2)"])
    clock.advance(by: .seconds(1))
    #expect(early.updates.count == 3)
    #expect(late.updates.count == 2)
    #expect(Recorder(task).updates.count == 1)
    #expect(early.hasEnded && late.hasEnded)
    #expect(clock.sleeperCount == 0)
  }
}
