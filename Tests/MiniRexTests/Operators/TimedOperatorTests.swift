import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// A timed operator with an interval of one second.
struct TimedOperator: Sendable, CustomTestStringConvertible {
  let name: String
  let apply: @Sendable (Broadcaster<Int>, any Clock<Duration>) -> Broadcaster<Int>
  /// A Boolean value that indicates whether the first update is emitted immediately.
  var isPrompt = false

  var testDescription: String { name }

  static let all = [
    TimedOperator(name: "debounce") { $0.debounce(for: .seconds(1), clock: $1) },
    TimedOperator(name: "throttle") {
      $0.throttle(for: .seconds(1), clock: $1)
    }.prompt,
    TimedOperator(name: "throttle, not latest") {
      $0.throttle(for: .seconds(1), latest: false, clock: $1)
    }.prompt,
    TimedOperator(name: "delay") { $0.delay(for: .seconds(1), clock: $1) },
    TimedOperator(name: "delay of debounce") {
      $0.debounce(for: .milliseconds(500), clock: $1).delay(for: .milliseconds(500), clock: $1)
    },
    TimedOperator(name: "chunked") {
      $0.chunked(every: .seconds(1), clock: $1).compactMap(\.last)
    },
  ]

  private var prompt: TimedOperator {
    var prompt = self
    prompt.isPrompt = true
    return prompt
  }
}

@Suite(.light) struct TimedOperatorTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test(arguments: TimedOperator.all)
  func `R25 timed operators depend only on the injected clock`(timed: TimedOperator) {
    func run() -> [String] {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let events = Shared<[String]>([])
      let subscription = timed.apply(source.publisher, clock).subscribe { number in
        events.change { $0.append("\(number)@\(clock.now.offset)") }
        if number == 7 { source.broadcast(100) }
      } onEnd: {
        events.change { $0.append("end@\(clock.now.offset)") }
      }
      var random = SeededGenerator(seed: 4)
      for number in 0..<30 {
        source.broadcast(number)
        clock.advance(by: .milliseconds(Int.random(in: 0..<900, using: &random)))
        if number % 10 == 9 { clock.advanceToNext() }
      }
      source.end()
      clock.advance(by: .seconds(5))
      withExtendedLifetime(subscription) {}
      return events.value
    }
    let first = run()
    #expect(first.count > 3)
    #expect(first.last?.hasPrefix("end") == true)
    for _ in 0..<scaled(100) { #expect(run() == first) }
  }

  @Test(arguments: TimedOperator.all)
  func `R11 invalidate cancels the timer and releases the callback immediately`(
    timed: TimedOperator
  ) {
    weak var captured: Thing?
    let subscription = {
      let thing = Thing()
      captured = thing
      return timed.apply(source.publisher, clock).subscribe { _ in
        withExtendedLifetime(thing) {}
      }
    }()
    for number in 0..<3 { source.broadcast(number) }
    #expect(captured != nil)

    subscription.invalidate()

    #expect(captured == nil)
    #expect(clock.sleeperCount == 0)
    #expect(source.subscriberCount == 0)
    clock.advance(by: .seconds(3))
    withExtendedLifetime(subscription) {}
  }

  @Test func `an interval of 0 waits for the clock, except after an update of throttle`() {
    let debounced = Recorder(source.publisher.debounce(for: .zero, clock: clock))
    let delayed = Recorder(source.publisher.delay(for: .zero, clock: clock))
    let throttled = Recorder(source.publisher.throttle(for: .zero, clock: clock))
    for number in 1...3 { source.broadcast(number) }
    #expect(throttled.updates == [1, 2, 3])
    #expect(debounced.updates == [] && delayed.updates == [])

    clock.advance(by: .zero)

    #expect(debounced.updates == [3] && delayed.updates == [1, 2, 3])
  }

  @Test func `R11 invalidate releases a pending update`() {
    let source = BroadcastSource<Thing>()
    for publisher in [
      source.publisher.chunked(by: 3).compactMap(\.last),
      source.publisher.chunked(every: .seconds(1), clock: clock).compactMap(\.last),
      source.publisher.debounce(for: .seconds(1), clock: clock),
      source.publisher.throttle(for: .seconds(1), clock: clock),
      source.publisher.delay(for: .seconds(1), clock: clock),
    ] {
      weak var pending: Thing?
      let subscription = publisher.subscribe { _ in }
      source.broadcast(Thing())
      do {
        let thing = Thing()
        pending = thing
        source.broadcast(thing)
      }
      #expect(pending != nil)
      subscription.invalidate()
      #expect(pending == nil)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R11 invalidate releases the callback immediately on a clock without scheduling`(
    timed: TimedOperator
  ) async {
    weak var captured: Thing?
    let subscription = {
      let thing = Thing()
      captured = thing
      return timed.apply(source.publisher, SleepingClock(manual: clock)).subscribe { _ in
        withExtendedLifetime(thing) {}
      }
    }()
    for number in 0..<3 { source.broadcast(number) }

    subscription.invalidate()

    #expect(captured == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: TimedOperator.all)
  func `R1 callbacks never overlap with timers on another thread`(timed: TimedOperator) {
    for _ in 0..<scaled(50) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let depth = Shared(0)
      let overlaps = Shared(0)
      let subscription = timed.apply(source.publisher, clock).subscribe { _ in
        if depth.increment() != 1 { overlaps.increment() }
        depth.increment(by: -1)
      }
      onThreads(3) { index in
        for number in 0..<50 {
          if index == 0 {
            clock.advance(by: .milliseconds(300))
          } else {
            source.broadcast(number)
          }
        }
      }
      #expect(overlaps.value == 0)
      subscription.invalidate()
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test(arguments: [false, true])
  func `R16 at rest, the last update equals the value of the source`(throttles: Bool) {
    for round in 0..<scaled(300) {
      let clock = ManualClock()
      let property = PublishedProperty(0)
      let recorder = Recorder(
        throttles
          ? property.publisher.throttle(for: .milliseconds(3), clock: clock)
          : property.publisher.debounce(for: .milliseconds(1), clock: clock))
      onThreads(3) { index in
        var random = SeededGenerator(seed: UInt64(round * 3 + index))
        for _ in 1...20 {
          if index == 0 {
            clock.advance(by: .milliseconds(1))
          } else {
            property.value = Int.random(in: 0..<3, using: &random)
          }
        }
      }
      clock.advance(by: .milliseconds(3))
      #expect(recorder.updates.last == property.value)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R8 concurrent cancellation cancels every timer`(
    timed: TimedOperator
  ) {
    for _ in 0..<scaled(200) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let subscription = timed.apply(source.publisher, clock).subscribe { _ in }
      onThreads(3) { index in
        for number in 0..<10 {
          switch index {
          case 0: clock.advance(by: .milliseconds(400))
          case 1: source.broadcast(number)
          default: if number == 5 { subscription.invalidate() }
          }
        }
      }
      #expect(clock.sleeperCount == 0)
      #expect(source.subscriberCount == 0)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R9 a clock may send to the source and use the subscription`(
    timed: TimedOperator
  ) async {
    await #expect(processExitsWith: .success) { [name = timed.name as String] in
      mustEnd()
      guard let timed = TimedOperator.all.first(where: { $0.name == name }) else { return }
      let source = BroadcastSource<Int>()
      let uses = Shared(0)
      let subscription = Shared<Subscription?>(nil)
      let clock = NosyClock {
        // Each update that it sends makes the operator read the clock again.
        if uses.increment() > 50 { return }
        source.broadcast(-1)
        _ = subscription.value?.isSubscribed
        source.publisher.subscribe { _ in }.invalidate()
      }
      subscription.value = timed.apply(source.publisher, clock).subscribe { _ in }
      for number in 0..<5 {
        source.broadcast(number)
        clock.manual.advance(by: .milliseconds(400))
      }
      source.broadcast(6)
      subscription.value?.invalidate()
    }
  }

  @Test(arguments: TimedOperator.all)
  func `a clock may run actions inside schedule`(timed: TimedOperator) {
    let recorder = Recorder(timed.apply(source.publisher, HastyClock()))
    source.broadcast(1)
    #expect(recorder.updates == [1])
    source.end()
    #expect(recorder.hasEnded)
  }

  @Test(arguments: TimedOperator.all)
  func `with a clock that throws, no delayed update is emitted`(timed: TimedOperator) {
    let recorder = Recorder(timed.apply(source.publisher, StoppedClock()))
    for number in 1...3 { source.broadcast(number) }
    #expect(recorder.updates == (timed.isPrompt ? [1] : []))
    recorder.invalidate()
  }

  @Test func `the continuous clock schedules, and a cancellation releases the action`() async {
    let clock: any SchedulingClock<Duration> = ContinuousClock()
    func schedule(on clock: some SchedulingClock<Duration>, after duration: Duration)
      -> (Subscription, Shared<Bool>)
    {
      let hasRun = Shared(false)
      let deadline = clock.now.advanced(by: duration)
      return (clock.schedule(at: deadline) { hasRun.value = true }, hasRun)
    }

    let (soon, hasRun) = schedule(on: clock, after: .milliseconds(1))
    await until { hasRun.value }
    let (past, hasPassed) = schedule(on: clock, after: .seconds(-1))
    await until { hasPassed.value }
    weak var released: Shared<Bool>?
    do {
      let (late, hasRun) = schedule(on: clock, after: .seconds(3_600))
      released = hasRun
      late.invalidate()
    }
    #expect(released == nil)
    withExtendedLifetime((soon, past)) {}
  }

  @Test func `timed operators work with the real clock`() async {
    let publishers: [Broadcaster<Int>] = [
      source.publisher.debounce(for: .microseconds(50)),
      source.publisher.throttle(for: .microseconds(50)),
      source.publisher.delay(for: .microseconds(50)),
    ]
    for publisher in publishers {
      let recorder = Recorder(publisher)
      for number in 1...3 {
        source.broadcast(number)
        #expect(await recorder.next() == [number])
      }
    }
  }
}
