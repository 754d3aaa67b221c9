import MiniRex
import TestSupport
import Testing

/// A step of polling: each next task is part of the last one.
private enum Form: String, CaseIterable, Codable, CustomTestStringConvertible {
  case flatMap, recover, progressive, progressiveRecover
  /// The next task has an operator of its own, so each step is part of the chain until the end.
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
    case .limited: limited(steps).first().mapError { _ in Failed() }
    case .latest: latest(steps).first().mapError { _ in Failed() }
    }
  }

  private func progressive(_ steps: Steps) -> ProgressiveTask<Int, Int, Failed> {
    steps.progressive().flatMap { _ in
      steps.isLast ? ProgressiveTask(steps.end) : progressive(steps)
    }
  }

  private func progressiveRecover(_ steps: Steps) -> ProgressiveTask<Int, Int, Failed> {
    steps.progressive().flatMap { _ in ProgressiveTask(PublishedTask<Int, Failed>.failure(Failed())) }
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

@Suite(.timeLimit(.minutes(20))) struct TaskChainTests {
  @Test(arguments: Form.allCases, [false, true])
  private func `a task of a million steps is released on 512 KiB of stack`(
    form: Form, isSynchronous: Bool
  ) async {
    await #expect(processExitsWith: .success) { [form, isSynchronous] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) {
        let steps = Steps(scaled(1_000_000), isSynchronous: isSynchronous)
        let received = Shared(0)
        var subscription = Optional(form.task(steps).subscribe { _ in received.increment() })
        steps.run()
        precondition(steps.endStarts.value == 1)
        precondition(subscription?.isSubscribed == true)

        subscription = nil

        precondition(steps.endStops.value == 1)
        precondition(received.value == 0)
      }
    }
  }

  @Test(arguments: Form.allCases, [false, true])
  private func `a task of a million steps delivers its result on 512 KiB of stack`(
    form: Form, isSynchronous: Bool
  ) async {
    await #expect(processExitsWith: .success) { [form, isSynchronous] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) {
        let steps = Steps(scaled(1_000_000), isSynchronous: isSynchronous)
        let received = Shared(0)
        let task = form.task(steps)
        let subscription = task.subscribe { _ in received.increment() }
        steps.run()

        steps.finish()

        precondition(received.value == 1)
        precondition(!subscription.isSubscribed)
        precondition(steps.endStops.value == 1)
        let late = task.subscribe { _ in received.increment() }
        precondition(received.value == 2)
        precondition(steps.endStarts.value == 1)
        withExtendedLifetime(late) {}
      }
    }
  }
}
