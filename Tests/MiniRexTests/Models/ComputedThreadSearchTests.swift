#if os(Linux)
import MiniRex
import TestSupport
import Testing

/// The interleavings of two writers and a third thread, which reads a subscribed diamond of computed
/// values, writes and reads it, or is the first to subscribe to it.
///
/// The threads are stopped before each action, inside each closure, and inside the callback. They are
/// preempted two or three times at most, because all interleavings take minutes. `MINIREX_SCALE=5`
/// searches all.
///
/// The threads have a separate process, because writes of other tests move the change clock, and runs
/// may then be repeated.
@Suite(.light) struct ComputedThreadSearchTests {
  @Test func `R36 R37 interleavings of threads that write and read are consistent`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      searchThreads(.reads)
    }
    await #expect(processExitsWith: .success) {
      mustEnd()
      searchThreads(.writesAndReads)
    }
  }

  @Test func `R14 R36 R37 a subscription that begins beside writers misses no change`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      searchThreads(.subscribes)
    }
  }
}

private enum ThirdThread {
  case reads, writesAndReads, subscribes
}

private func searchThreads(_ third: ThirdThread) {
  // The number of threads that are stopped at a point although they could continue.
  let preemptions = scale >= 5 ? .max : third == .subscribes ? 3 : 2
  for sharesSource in [false, true] {
    let (count, fault) = searchChoices { choices in
      let run = ThreadedRun(choices, sharesSource: sharesSource, third, preemptions)
      run.finish()
      choices = run.choices
      return run.fault
    }
    #expect(fault == nil)
    #expect(count > 100)
  }
}

/// One interleaving.
private final class ThreadedRun: @unchecked Sendable {
  private let left = PublishedProperty(0)
  private let right: PublishedProperty<Int>
  private let rightValue: Int
  private let third: ThirdThread
  private let stepper = ThreadStepper(threads: 3)
  private var preemptions: Int
  private var last = 0
  private(set) var choices: Choices
  private let faults = Shared<[String]>([])
  private let emitted = Shared<[[Int]]>([])
  private let subscriptions = SubscriptionBag()

  init(_ choices: Choices, sharesSource: Bool, _ third: ThirdThread, _ preemptions: Int) {
    self.choices = choices
    self.third = third
    self.preemptions = preemptions
    right = sharesSource ? left : PublishedProperty(0)
    rightValue = sharesSource ? 3 : 1
  }

  var fault: String? { faults.value.first }

  func finish() {
    let (left, right, stepper, faults) = (left, right, stepper, faults)
    let (emitted, subscriptions) = (emitted, subscriptions)
    let doubled = PublishedValue.computed { read in
      stepper.point()
      return read(left) * 2
    }
    let sum = PublishedValue.computed { read in
      let first = read(left)
      stepper.point()
      return first + read(right)
    }
    let bottom = PublishedValue.computed { read in
      let double = read(doubled)
      stepper.point()
      let (sum, values) = (read(sum), [read(left), read(right)])
      if double != values[0] * 2 || sum != values[0] + values[1] {
        faults.append("A run saw \(double), \(sum), and \(values)")
      }
      return values
    }
    let subscribe: @Sendable () -> Void = {
      bottom.subscribe { value in
        stepper.point()
        emitted.append(value)
      }.store(in: subscriptions)
    }
    if third != .subscribes { subscribe() }
    let ends = stepper.run { [third, rightValue] index in
      switch (index, third) {
      case (0, _):
        left.value = 1
        guard third == .subscribes else { return }
        stepper.point()
        left.value = 4
      case (1, _):
        right.value = rightValue
        guard third == .subscribes else { return }
        stepper.point()
        right.value = 5
      case (_, .subscribes): subscribe()
      default:
        if third == .writesAndReads {
          left.value = 2
          stepper.point()
        }
        let seen = bottom.current() ?? []
        if seen.count != 2 { faults.append("The reader saw \(seen)") }
      }
    } choose: {
      choose(among: $0)
    }

    let end = [left.value, right.value]
    if !ends { faults.append("The threads wait for each other") }
    if emitted.value.last != end {
      faults.append("The updates were \(emitted.value), not up to \(end)")
    }
    if zip(emitted.value, emitted.value.dropFirst()).contains(where: ==) {
      faults.append("An update was repeated in \(emitted.value)")
    }
    if bottom.current() != end { faults.append("The value was not \(end)") }
    subscriptions.invalidate()
  }

  private func choose(among ready: [Int]) -> Int {
    let isPreempted = ready[0] == last
    var taken = 0
    if ready.count > 1, !isPreempted || preemptions > 0 {
      taken = choices.choose(of: ready.count)
    }
    if isPreempted, taken > 0, preemptions < .max { preemptions -= 1 }
    last = ready[taken]
    return last
  }
}
#endif
