import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The way in which each step of a chain continues with the next.
private enum Form: String, CaseIterable, Codable, CustomTestStringConvertible {
  case flatMap, recover, progressive, progressiveRecover
  /// Each next task has an operator, so each step is part of the chain until the end.
  case mapped, progressiveMapped, timeout, all, limited, latest

  var testDescription: String { rawValue }

  /// The chain ends in the last task, for which `steps` has no next step.
  func task(_ steps: Steps) -> PublishedTask<Int, Failed> {
    switch self {
    case .flatMap:
      steps.task().flatMap { _ in steps.isLast ? steps.end : task(steps) }
    case .recover:
      steps.task().flatMap { _ in PublishedTask<Int, Failed>.failure(Failed()) }
        .recover { (_: Failed) in steps.isLast ? steps.end : task(steps) }
    case .mapped:
      steps.task().flatMap { _ in steps.isLast ? steps.end : task(steps).map { $0 + 1 } }
    case .timeout:
      steps.task().flatMap { _ in
        steps.isLast
          ? steps.end
          : task(steps).timeout(after: .seconds(1), clock: NoClock()).mapError { _ in Failed() }
      }
    case .all:
      steps.task().flatMap { _ in
        steps.isLast ? steps.end : MiniRex.all([task(steps)]).map { (all: [Int]) in all[0] }
      }
    case .progressive: progressive(steps).withoutProgress()
    case .progressiveRecover: progressiveRecover(steps).withoutProgress()
    case .progressiveMapped: progressiveMapped(steps).withoutProgress()
    case .limited: limited(steps).first().mapError(failed)
    case .latest: latest(steps).first().mapError(failed)
    }
  }

  private func progressive(_ steps: Steps) -> ProgressiveTask<Int, Int, Failed> {
    steps.progressive().flatMap { _ in
      steps.isLast ? ProgressiveTask(steps.end) : progressive(steps)
    }
  }

  private func progressiveRecover(_ steps: Steps) -> ProgressiveTask<Int, Int, Failed> {
    steps.progressive().flatMap { _ in ProgressiveTask(PublishedTask<Int, Failed>.failure(Failed()))
    }
    .recover { (_: Failed) in
      steps.isLast ? ProgressiveTask(steps.end) : progressiveRecover(steps)
    }
  }

  private func progressiveMapped(_ steps: Steps) -> ProgressiveTask<Int, Int, Failed> {
    ProgressiveTask(steps.task()).flatMap { _ in
      steps.isLast ? ProgressiveTask(steps.end) : progressiveMapped(steps).map { $0 + 1 }
    }
  }

  private func limited(_ steps: Steps) -> Broadcaster<Int> {
    steps.task().broadcaster.flatMap(limit: 1) { _ in
      steps.isLast ? steps.end.broadcaster.compactMap { try? $0.get() } : limited(steps)
    }
  }

  private func latest(_ steps: Steps) -> Broadcaster<Int> {
    steps.task().broadcaster.flatMapLatest { _ in
      steps.isLast ? steps.end.broadcaster.compactMap { try? $0.get() } : latest(steps)
    }
  }
}

/// A clock on which no time passes.
private struct NoClock: SchedulingClock {
  typealias Instant = ContinuousClock.Instant

  let now = ContinuousClock.now
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {}

  func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> Subscription {
    Subscription {}
  }
}

/// The steps of a chain: each is finished by the test, or by its start.
private final class Steps: Sendable {
  private let count: Int
  private let isSynchronous: Bool
  private let begun = Shared(0)
  private let current = Shared<ProgressiveTaskSource<Int, Int, Failed>?>(nil)
  private let last = TaskSource<Int, Failed>()
  let endStarts = Shared(0)
  let endStops = Shared(0)

  init(_ count: Int, isSynchronous: Bool) {
    self.count = count
    self.isSynchronous = isSynchronous
  }

  func task() -> PublishedTask<Int, Failed> {
    begun.increment()
    if isSynchronous { return .success(1) }
    let source = ProgressiveTaskSource<Int, Int, Failed>()
    current.value = source
    return source.publisher.withoutProgress()
  }

  func progressive() -> ProgressiveTask<Int, Int, Failed> {
    begun.increment()
    if isSynchronous { return ProgressiveTask(PublishedTask<Int, Failed>.success(1)) }
    let source = ProgressiveTaskSource<Int, Int, Failed>()
    current.value = source
    return source.publisher
  }

  var isLast: Bool { begun.value == count }

  /// Work that the test finishes.
  var end: PublishedTask<Int, Failed> {
    PublishedTask { finish in
      self.endStarts.increment()
      let input = self.last.publisher.subscribe { finish($0) }
      return Subscription {
        input.invalidate()
        self.endStops.increment()
      }
    }
  }

  /// Finishes the steps one after the other, as Swift tasks would.
  func run() {
    while !isSynchronous, let source = current.value {
      current.value = nil
      source.report(begun.value)
      source.finish(.success(1))
    }
  }

  func finish() { last.finish(.success(1)) }
}

/// Gives a task that cannot fail the failure type of the others.
@Sendable private func failed(_ never: Never) -> Failed {}

/// Cancels a chain, and finishes another.
private func check(_ form: Form, isSynchronous: Bool) {
  let steps = [0, 1].map { _ in Steps(chainSteps(1_000), isSynchronous: isSynchronous) }
  let received = Shared(0)
  var subscription = Optional(form.task(steps[0]).subscribe { _ in received.increment() })
  steps[0].run()
  precondition(steps[0].endStarts.value == 1)
  precondition(subscription?.isSubscribed == true)

  subscription = nil

  precondition(steps[0].endStops.value == 1)
  precondition(received.value == 0)

  let task = form.task(steps[1])
  let other = task.subscribe { _ in received.increment() }
  steps[1].run()

  steps[1].finish()

  precondition(received.value == 1)
  precondition(!other.isSubscribed)
  precondition(steps[1].endStops.value == 1)
  let late = task.subscribe { _ in received.increment() }
  precondition(received.value == 2)
  precondition(steps[1].endStarts.value == 1)
  withExtendedLifetime(late) {}
}

@Suite(.light) struct TaskChainTests {
  // A few hundred steps overflowed the stack. `Scripts/soak` takes a million.
  @Test(arguments: Form.allCases, [false, true])
  private func `R11 a chain of 1,000 tasks is released and finished on 512 KiB of stack`(
    form: Form, isSynchronous: Bool
  ) async {
    await #expect(processExitsWith: .success) { [form, isSynchronous] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) { check(form, isSynchronous: isSynchronous) }
    }
  }

  // A step looks at the depth of the stack at some addresses only, unless its frames are large. Sanitizers enlarge all
  // frames, and reduce the scale.
  @Test(arguments: [Form.limited, .latest])
  private func `R11 a chain of joins fits on 192 KiB of stack at any address`(form: Form) async {
    await #expect(processExitsWith: .success) { [form] in
      mustEnd()
      for shift in 0..<12 {
        onThread(stackSize: (scale < 1 ? 512 : 192) * 1_024) {
          unsafe withUnsafeTemporaryAllocation(byteCount: shift * 80, alignment: 16) { _ in
            check(form, isSynchronous: true)
          }
        }
      }
    }
  }

  /// Tasks that exist before the first subscription: each closure captures the next task.
  private enum Nesting: String, CaseIterable, Codable, CustomTestStringConvertible {
    case flatMap, recover, progressive, mapped

    var testDescription: String { rawValue }

    func task(around next: PublishedTask<Int, Failed>) -> PublishedTask<Int, Failed> {
      switch self {
      case .flatMap: .success(1).flatMap { _ in next }
      case .recover: PublishedTask<Int, Failed>.failure(Failed()).recover { (_: Failed) in next }
      case .progressive:
        ProgressiveTask<Int, Int, Failed>.success(1).flatMap { _ in ProgressiveTask(next) }
          .withoutProgress()
      case .mapped: .success(1).flatMap { _ in next.map { $0 + 1 } }
      }
    }
  }

  @Test(arguments: Nesting.allCases)
  private func `R11 10,000 nested tasks run and are released on 512 KiB of stack`(
    nesting: Nesting
  ) async {
    await #expect(processExitsWith: .success) { [nesting] in
      mustEnd()
      let last = TaskSource<Int, Failed>()
      let first = Shared<PublishedTask<Int, Failed>?>(nil)
      func nest() {
        first.value = last.publisher
        for _ in 0..<chainSteps(overflowingDepth) {
          first.value = first.value.map { nesting.task(around: $0) }
        }
      }
      nest()
      onThread(stackSize: 512 * 1_024) { first.value = nil }

      nest()
      let received = Shared(0)
      onThread(stackSize: 512 * 1_024) {
        var subscription = first.value?.subscribe { _ in received.increment() }
        precondition(subscription?.isSubscribed == true)
        subscription = nil
        subscription = first.value?.subscribe { _ in received.increment() }
        last.finish(.success(1))
        first.value = nil
        subscription = nil
      }
      precondition(received.value == 1)
    }
  }

  @Test(arguments: [false, true])
  func `R32 a chain of 1,000 tasks is awaited until the last has returned`(isMapped: Bool) async {
    await #expect(processExitsWith: .success) { [isMapped] in
      mustEnd()
      let steps = Steps(chainSteps(1_000), isSynchronous: false)
      let (hasStarted, mayReturn) = (AsyncGate(), AsyncGate())
      let hasReturned = Shared(false)
      @Sendable func work() async -> Int {
        hasStarted.open()
        await mayReturn.wait()
        hasReturned.value = true
        return 1
      }
      let task = Shared<PublishedTask<Int, Failed>?>(nil)
      @Sendable func next() -> PublishedTask<Int, Failed> {
        steps.task().flatMap { _ in
          if steps.isLast { return PublishedTask { () async throws(Failed) in await work() } }
          return isMapped ? next().map { $0 + 1 } : next()
        }
      }
      task.value = next()
      let subscription = Shared<Subscription?>(nil)
      onThread(stackSize: 512 * 1_024) {
        subscription.value = task.value?.subscribe { _ in }
        steps.run()
      }
      await hasStarted.wait()

      let waiting = Task {
        await subscription.value?.invalidateAndWait()
        return hasReturned.value
      }
      while subscription.value?.isSubscribed == true { await Task.yield() }
      mayReturn.open()

      let hasWaited = await waiting.finished()
      precondition(hasWaited)
    }
  }

  @Test func `R11 10,000 nested bags are canceled on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      var bag = SubscriptionBag()
      for _ in 0..<chainSteps(overflowingDepth) {
        let next = bag
        source.publisher.subscribe { _ in }.store(in: bag)
        bag = SubscriptionBag()
        Subscription { next.invalidate() }.store(in: bag)
      }
      let first = bag

      onThread(stackSize: 512 * 1_024) { first.invalidate() }

      precondition(source.subscriberCount == 0)
    }
  }

  /// A task, a task that continues with a middle task, and its last task.
  private struct Three {
    let first = DrivenWork<Int>()
    let second = TaskSteps()
    let last = TaskSteps()
    let middle: ProgressiveTask<Int, Int, Failed>
    let whole: ProgressiveTask<Int, Int, Failed>

    init() {
      let (first, second, last) = (first.task, second.task, last.task)
      let middle = second.flatMap { _ in last }
      self.middle = middle
      whole = ProgressiveTask(first).flatMap { _ in middle }
    }
  }

  @Test func `R19 a task in the middle of a chain shares its work with the chain`() {
    let three = Three()
    let whole = Recorder(three.whole)
    three.first.finish(.success(1))
    three.second.report(1)
    three.second.finish()
    three.last.report(2)

    let middle = Recorder(three.middle)
    #expect(middle.updates == [.progress(2)])
    whole.invalidate()
    #expect(three.last.stops.value == 0)
    three.last.report(3)
    three.last.finish()

    #expect(whole.updates == [.progress(1), .progress(2)])
    #expect(middle.updates == [.progress(2), .progress(3), .finished(.success(0))])
    #expect(three.second.starts.value == 1)
    #expect(three.last.starts.value == 1)
    #expect(Recorder(three.middle).updates == [.finished(.success(0))])
    #expect(three.last.starts.value == 1)
  }

  @Test func `R18 a task in the middle of a chain keeps its progress and its result`() {
    let three = Three()
    let whole = Recorder(three.whole)
    three.first.finish(.success(1))
    three.second.report(1)
    three.second.finish()

    #expect(Recorder(three.middle).updates == [.progress(1)])
    three.last.finish()

    #expect(whole.updates == [.progress(1), .finished(.success(0))])
    #expect(Recorder(three.middle).updates == [.finished(.success(0))])
    #expect(three.second.starts.value == 1)
  }

  @Test func `R19 a task in the middle of a canceled chain starts its next task again`() {
    let three = Three()
    let whole = Recorder(three.whole)
    three.first.finish(.success(1))
    three.second.finish()
    let middle = Recorder(three.middle)
    middle.invalidate()
    #expect(three.last.stops.value == 0)

    whole.invalidate()

    #expect(three.last.stops.value == 1)
    let again = Recorder(three.middle)
    #expect(three.last.starts.value == 2)
    #expect(again.updates == [])
  }

  @Test func `R19 a middle task with another subscriber outlasts the chain`() {
    let three = Three()
    let middle = Recorder(three.middle)
    let whole = Recorder(three.whole)
    three.first.finish(.success(1))
    three.second.finish()
    three.last.report(1)

    whole.invalidate()
    #expect(three.last.stops.value == 0)
    middle.invalidate()

    #expect(three.last.stops.value == 1)
    #expect(three.last.starts.value == 1)
    #expect(whole.updates == [.progress(1)])
  }

  @Test func `R18 a chain whose last task ends without a result ends without a result`() {
    let three = Three()
    let whole = Recorder(three.whole)
    three.first.finish(.success(1))
    three.second.finish()

    three.last.forget()

    #expect(whole.hasEnded)
    #expect(whole.updates == [])
  }

  @Test(arguments: [false, true])
  func `R19 a task that its closure cancels does not start its next task`(isInner: Bool) {
    let (first, last) = (DrivenWork<Int>(), TaskSteps())
    let subscription = Shared<Subscription?>(nil)
    let chain = ProgressiveTask(first.task).flatMap { _ in
      subscription.value?.invalidate()
      return last.task
    }
    let task = isInner ? ProgressiveTask<Int, Int, Failed>.success(0).flatMap { _ in chain } : chain
    subscription.value = task.subscribe { _ in }

    first.finish(.success(1))

    #expect(last.starts.value == 0)
    #expect(Recorder(task).isSubscribed)
    subscription.value = nil
  }

  @Test func `R19 a task that continues with itself waits`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let first = TaskSource<Int, Failed>()
      let itself = Shared<PublishedTask<Int, Failed>?>(nil)
      let task = first.publisher.flatMap { _ in itself.value ?? .never }
      itself.value = task
      let around = PublishedTask<Int, Failed>.success(0).flatMap { _ in task }
      let subscription = around.subscribe { _ in }

      first.finish(.success(1))

      precondition(subscription.isSubscribed)
    }
  }

  /// Two tasks that continue with the same third of five tasks.
  private final class Branches: Sendable {
    let works = (0..<5).map { _ in TaskSteps() }
    let joins = Shared(Array(repeating: 0, count: 5))
    let tasks: [ProgressiveTask<Int, Int, Failed>]

    /// - Parameter isMapped: `true` if an operator follows each task, so no run hands its task over.
    init(isMapped: Bool) {
      var tasks = [works[4].task]
      for index in [3, 2, 1, 0] {
        let next = index == 0 ? tasks[1] : tasks[0]
        let joins = joins
        let task = works[index].task.flatMap { _ in
          joins.change { $0[index] += 1 }
          return isMapped ? next.map { $0 } : next
        }
        tasks.insert(task, at: 0)
      }
      self.tasks = tasks
    }

    var counts: [[Int]] { [works.map(\.starts.value), works.map(\.stops.value), joins.value] }
  }

  @Test func `R18 R19 a chain of tasks behaves like nested tasks in random scripts`() {
    for round in 0..<scaled(500) {
      let all = [false, true].map { Branches(isMapped: $0) }
      let logs = all.map { branches in
        var random = SeededGenerator(seed: UInt64(round))
        var log: [String] = []
        var recorders: [Recorder<TaskUpdate<Int, Int, Failed>>] = []
        for step in 0..<40 {
          let index = Int.random(in: 0..<5, using: &random)
          switch Int.random(in: 0..<20, using: &random) {
          case 0..<6:
            log.append("subscribe \(index)")
            recorders.append(Recorder(branches.tasks[index]))
          case 6..<10:
            guard let number = recorders.indices.randomElement(using: &random) else { continue }
            log.append("cancel \(number)")
            recorders[number].invalidate()
          case 10..<15:
            log.append("report to \(index)")
            branches.works[index].report(step)
          case 15..<19:
            log.append("finish \(index)")
            branches.works[index].finish()
          default:
            log.append("forget \(index)")
            branches.works[index].forget()
          }
          let received = recorders.map { recorder in
            "\(recorder.updates)\(recorder.hasEnded ? "." : "")\(recorder.isSubscribed ? "" : "!")"
          }
          log.append("\(branches.counts) \(received)")
        }
        for work in branches.works { work.forget() }
        return log
      }
      if let index = logs[0].indices.first(where: { logs[0][$0] != logs[1][$0] }) {
        Issue.record(
          """
          round \(round): \(logs[0].prefix(index).filter { !$0.hasPrefix("[") }.joined(separator: ", "))
          \(logs[0][index])
          \(logs[1][index])
          """)
        return
      }
    }
  }
}

/// Progressive work that a test drives by hand.
private final class TaskSteps: Sendable {
  let starts = Shared(0)
  let stops = Shared(0)
  private let calls = Shared<
    (
      report: @Sendable (Int) -> Void,
      finish: @Sendable (Result<Int, Failed>) -> Void
    )?
  >(nil)

  var task: ProgressiveTask<Int, Int, Failed> {
    ProgressiveTask { report, finish in
      self.starts.increment()
      self.calls.value = (report, finish)
      return Subscription { self.stops.increment() }
    }
  }

  func report(_ progress: Int) { calls.value?.report(progress) }

  func finish() { calls.value?.finish(.success(0)) }

  func forget() { calls.value = nil }
}
