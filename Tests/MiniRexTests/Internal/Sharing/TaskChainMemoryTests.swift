import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The ways in which a step continues with the next step, unchanged.
private enum TailForm: String, CaseIterable, CustomTestStringConvertible {
  case flatMap, recover, progressive, progressiveRecover

  var testDescription: String { rawValue }

  func task(_ steps: CountedSteps) -> ProgressiveTask<Int, Int, Failed> {
    switch self {
    case .flatMap, .recover: ProgressiveTask(short(steps))
    case .progressive: progressive(steps)
    case .progressiveRecover: progressiveRecover(steps)
    }
  }

  private func short(_ steps: CountedSteps) -> PublishedTask<Int, Failed> {
    let step = steps.begin()
    if self == .flatMap {
      return steps.keep(
        step.source.withoutProgress().flatMap { _ in step.isLast ? steps.end : short(steps) })
    }
    return steps.keep(
      step.source.withoutProgress().flatMap { _ in PublishedTask<Int, Failed>.failure(Failed()) }
        .recover { (_: Failed) in step.isLast ? steps.end : short(steps) })
  }

  private func progressive(_ steps: CountedSteps) -> ProgressiveTask<Int, Int, Failed> {
    let step = steps.begin()
    return steps.keep(
      step.source.flatMap { _ in step.isLast ? ProgressiveTask(steps.end) : progressive(steps) })
  }

  private func progressiveRecover(_ steps: CountedSteps) -> ProgressiveTask<Int, Int, Failed> {
    let step = steps.begin()
    return steps.keep(
      step.source.flatMap { _ in ProgressiveTask<Int, Int, Failed>.failure(Failed()) }
        .recover { (_: Failed) in
          step.isLast ? ProgressiveTask(steps.end) : progressiveRecover(steps)
        })
  }
}

/// Counts the steps in memory.
private final class CountedSteps: Sendable {
  /// A step, which the closure of its task retains.
  final class Step: Sendable {
    let source: ProgressiveTask<Int, Int, Failed>
    let isLast: Bool
    private let inMemory: Shared<Int>

    init(_ source: ProgressiveTask<Int, Int, Failed>, isLast: Bool, _ inMemory: Shared<Int>) {
      self.source = source
      self.isLast = isLast
      self.inMemory = inMemory
      inMemory.increment()
    }

    deinit { inMemory.change { $0 -= 1 } }
  }

  private let count: Int
  private let isSynchronous: Bool
  private let begun = Shared(0)
  private let kept = Shared<ProgressiveTask<Int, Int, Failed>?>(nil)
  private let current = Shared<ProgressiveTaskSource<Int, Int, Failed>?>(nil)
  private let last = Shared<TaskSource<Int, Failed>?>(TaskSource())
  let inMemory = Shared(0)
  let most = Shared(0)

  init(_ count: Int, isSynchronous: Bool) {
    self.count = count
    self.isSynchronous = isSynchronous
  }

  var end: PublishedTask<Int, Failed> { last.value?.publisher ?? .never }

  func begin() -> Step {
    let isLast = begun.change {
      $0 += 1
      return $0 >= count
    }
    if isSynchronous { return Step(.success(1), isLast: isLast, inMemory) }
    let source = ProgressiveTaskSource<Int, Int, Failed>()
    current.value = source
    return Step(source.publisher, isLast: isLast, inMemory)
  }

  func keep(_ task: PublishedTask<Int, Failed>) -> PublishedTask<Int, Failed> {
    keep { ProgressiveTask(task) }
    return task
  }

  func keep(_ task: ProgressiveTask<Int, Int, Failed>) -> ProgressiveTask<Int, Int, Failed> {
    keep { task }
    return task
  }

  /// Retains the third step, as a user who subscribes to it later.
  private func keep(_ task: () -> ProgressiveTask<Int, Int, Failed>) {
    if begun.value == 3 { kept.value = task() }
    most.change { $0 = max($0, inMemory.value) }
  }

  var middle: ProgressiveTask<Int, Int, Failed>? { kept.value }

  func run() {
    while !isSynchronous, let source = current.value {
      current.value = nil
      source.report(begun.value)
      source.finish(.success(1))
    }
  }

  func finish(_ result: Result<Int, Failed> = .success(1)) { last.value?.finish(result) }

  /// Releases the source of the last task, which ends without a result.
  func abandon() { last.value = nil }

  /// Releases the third step, whose closure retains this object.
  func forget() { kept.value = nil }
}

@Suite(.light) struct TaskChainMemoryTests {
  // Each step retained the next while the first step was retained, as by the stack of a synchronous chain.
  @Test(arguments: TailForm.allCases, [false, true])
  private func `R19 a chain of tasks keeps a constant number of steps in memory`(
    form: TailForm, isSynchronous: Bool
  ) {
    let steps = CountedSteps(chainSteps(1_000), isSynchronous: isSynchronous)
    onThread(stackSize: 512 * 1_024) {
      let recorder = Recorder(form.task(steps))
      steps.run()
      #expect(recorder.updates.allSatisfy { $0.finalResult == nil })

      steps.finish()

      #expect(recorder.updates.last == .finished(.success(1)))
    }
    #expect(steps.most.value < 10)
    #expect(steps.inMemory.value < 3)
    steps.forget()
    #expect(steps.inMemory.value == 0)
  }

  /// The last event of a chain before its release.
  private enum Ending: String, CaseIterable, CustomTestStringConvertible {
    case unused, canceled, restarted, finished, failed, abandoned

    var testDescription: String { rawValue }
  }

  @Test(arguments: TailForm.allCases, Ending.allCases)
  private func `R19 a chain of tasks releases its steps after every ending`(
    form: TailForm, ending: Ending
  ) {
    for (isSynchronous, isShared) in [(false, false), (false, true), (true, false), (true, true)] {
      let steps = CountedSteps(10, isSynchronous: isSynchronous)
      end(form.task(steps), steps, by: ending, isShared: isShared)
      steps.forget()
      #expect(steps.inMemory.value == 0, "isSynchronous: \(isSynchronous), isShared: \(isShared)")
    }
  }

  /// - Parameter isShared: `true` if the third step has a late subscriber.
  private func end(
    _ task: ProgressiveTask<Int, Int, Failed>, _ steps: CountedSteps, by ending: Ending,
    isShared: Bool
  ) {
    if ending == .unused { return }
    let recorder = Recorder(task)
    steps.run()
    let late = isShared ? steps.middle.map { Recorder($0) } : nil
    switch ending {
    case .unused: break
    case .canceled: recorder.invalidate()
    case .restarted:
      recorder.invalidate()
      late?.invalidate()
      let again = steps.middle.map { Recorder($0) }
      #expect(again?.isSubscribed == true)
    case .finished: steps.finish()
    case .failed: steps.finish(.failure(Failed()))
    case .abandoned: steps.abandon()
    }
    if let late { #expect(late.updates.last == recorder.updates.last) }
  }

  /// A task that continues with three more tasks, for a test to finish.
  private struct Four {
    let sources = (0..<4).map { _ in ProgressiveTaskSource<Int, Int, Failed>() }
    let second: ProgressiveTask<Int, Int, Failed>
    let whole: ProgressiveTask<Int, Int, Failed>

    init() {
      let tasks = sources.map(\.publisher)
      let third = tasks[2].flatMap { _ in tasks[3] }
      let second = tasks[1].flatMap { _ in third }
      self.second = second
      whole = tasks[0].flatMap { _ in second }
    }
  }

  @Test func `R18 a late subscriber in a chain receives the progress of its task`() {
    let four = Four()
    let whole = Recorder(four.whole)
    four.sources[0].report(1)
    four.sources[0].finish(.success(0))
    four.sources[1].finish(.success(0))
    let early = Recorder(four.second)
    four.sources[2].report(2)
    four.sources[2].finish(.success(0))

    let late = Recorder(four.second)
    four.sources[3].report(3)
    four.sources[3].finish(.success(4))

    #expect(whole.updates == [.progress(1), .progress(2), .progress(3), .finished(.success(4))])
    #expect(early.updates == [.progress(2), .progress(3), .finished(.success(4))])
    #expect(late.updates == [.progress(2), .progress(3), .finished(.success(4))])
    #expect(Recorder(four.second).updates == [.finished(.success(4))])
  }

  @Test func `R18 a late subscriber in a finished chain receives its result`() {
    let four = Four()
    let whole = Recorder(four.whole)
    for source in four.sources.dropLast() {
      source.report(1)
      source.finish(.success(0))
    }

    #expect(Recorder(four.second).updates == [.progress(1)])
    four.sources[3].finish(.success(4))

    #expect(Recorder(four.second).updates == [.finished(.success(4))])
    #expect(whole.updates.last == .finished(.success(4)))
  }
}
