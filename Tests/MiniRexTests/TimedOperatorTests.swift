import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An operator that keeps time, with an interval of one second.
struct TimedOperator: Sendable, CustomTestStringConvertible {
  let name: String
  let apply: @Sendable (Broadcaster<Int>, any Clock<Duration>) -> Broadcaster<Int>
  /// Whether the first update comes at once.
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

@Suite(.timeLimit(.minutes(20))) struct TimedOperatorTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test(arguments: TimedOperator.all)
  func `R25 the same script gives the same calls, a thousand times`(timed: TimedOperator) {
    func run() -> [String] {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let events = Shared<[String]>([])
      let token = timed.apply(source.publisher, clock).subscribe { number in
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
      withExtendedLifetime(token) {}
      return events.value
    }
    let first = run()
    #expect(first.count > 3)
    #expect(first.last?.hasPrefix("end") == true)
    for _ in 0..<scaled(1_000) { #expect(run() == first) }
  }

  @Test(arguments: TimedOperator.all)
  func `R11 ending cancels the timer and releases callback and pending update at once`(
    timed: TimedOperator
  ) {
    weak var captured: Thing?
    let token = {
      let thing = Thing()
      captured = thing
      return timed.apply(source.publisher, clock).subscribe { _ in
        withExtendedLifetime(thing) {}
      }
    }()
    for number in 0..<3 { source.broadcast(number) }
    #expect(captured != nil)

    token.invalidate()

    #expect(captured == nil)
    #expect(clock.sleeperCount == 0)
    #expect(source.subscriberCount == 0)
    clock.advance(by: .seconds(3))
    withExtendedLifetime(token) {}
  }

  @Test func `R11 a pending update is released when its subscription ends`() {
    let source = BroadcastSource<Thing>()
    for publisher in [
      source.publisher.debounce(for: .seconds(1), clock: clock),
      source.publisher.throttle(for: .seconds(1), clock: clock),
      source.publisher.delay(for: .seconds(1), clock: clock),
    ] {
      weak var pending: Thing?
      let token = publisher.subscribe { _ in }
      source.broadcast(Thing())
      do {
        let thing = Thing()
        pending = thing
        source.broadcast(thing)
      }
      #expect(pending != nil)
      token.invalidate()
      #expect(pending == nil)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R11 on a clock that only sleeps, ending releases at once and the sleep ends`(
    timed: TimedOperator
  ) async {
    weak var captured: Thing?
    let token = {
      let thing = Thing()
      captured = thing
      return timed.apply(source.publisher, SleepingClock(manual: clock)).subscribe { _ in
        withExtendedLifetime(thing) {}
      }
    }()
    for number in 0..<3 { source.broadcast(number) }

    token.invalidate()

    #expect(captured == nil)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: TimedOperator.all)
  func `R12 dropping the token ends the timer`(timed: TimedOperator) {
    var token: Subscription? = timed.apply(source.publisher, clock).subscribe { _ in }
    for number in 0..<3 { source.broadcast(number) }
    withExtendedLifetime(token) {}
    token = nil
    #expect(clock.sleeperCount == 0)
    #expect(source.subscriberCount == 0)
  }

  @Test(arguments: TimedOperator.all)
  func `R6 a callback that ends its token is not called again`(timed: TimedOperator) {
    let calls = Shared(0)
    let token = Shared<Subscription?>(nil)
    token.value = timed.apply(source.publisher, clock).subscribe { _ in
      calls.increment()
      token.value?.invalidate()
    }
    for number in 0..<5 { source.broadcast(number) }
    clock.advance(by: .seconds(3))
    source.broadcast(9)
    clock.advance(by: .seconds(3))
    #expect(calls.value == 1)
    #expect(clock.sleeperCount == 0)
  }

  @Test(arguments: TimedOperator.all)
  func `R3 a callback may send, and subscribe to the same`(timed: TimedOperator) {
    let publisher = timed.apply(source.publisher, clock)
    let inner = Shared<[Int]>([])
    let bag = SubscriptionBag()
    let depth = Shared(0)
    let recorder = Recorder(publisher) { [source, clock] number in
      #expect(depth.increment() == 1)
      if number == 1 {
        publisher.subscribe { number in inner.change { $0.append(number) } }.store(in: bag)
        source.broadcast(2)
        clock.advance(by: .seconds(2))
      }
      depth.increment(by: -1)
    }
    source.broadcast(1)
    clock.advance(by: .seconds(4))
    source.broadcast(3)
    clock.advance(by: .seconds(4))

    #expect(recorder.updates.first == 1)
    #expect(recorder.updates.last == 3)
    #expect(inner.value.last == 3)
    #expect(!inner.value.contains(1))
  }

  @Test(arguments: TimedOperator.all)
  func `R1 calls never overlap, although the timer is on another thread`(timed: TimedOperator) {
    for _ in 0..<scaled(50) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let depth = Shared(0)
      let overlaps = Shared(0)
      let token = timed.apply(source.publisher, clock).subscribe { _ in
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
      token.invalidate()
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R8 ending while others send and the clock runs leaves no timer behind`(
    timed: TimedOperator
  ) {
    for _ in 0..<scaled(200) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let token = timed.apply(source.publisher, clock).subscribe { _ in }
      onThreads(3) { index in
        for number in 0..<10 {
          switch index {
          case 0: clock.advance(by: .milliseconds(400))
          case 1: source.broadcast(number)
          default: if number == 5 { token.invalidate() }
          }
        }
      }
      #expect(clock.sleeperCount == 0)
      #expect(source.subscriberCount == 0)
    }
  }

  @Test(arguments: TimedOperator.all)
  func `R26 the end is passed on once, after the last update, and not after invalidate`(
    timed: TimedOperator
  ) {
    let events = Shared<[String]>([])
    let source = BroadcastSource<Int>()
    let token = timed.apply(source.publisher, clock).subscribe { number in
      events.change { $0.append("\(number)") }
    } onEnd: {
      events.change { $0.append("end") }
    }
    let ended = timed.apply(source.publisher, clock).subscribe { _ in
    } onEnd: {
      events.change { $0.append("wrong") }
    }
    source.broadcast(1)
    ended.invalidate()
    source.end()
    clock.advance(by: .seconds(3))
    #expect(events.value == ["1", "end"])
    #expect(!token.isSubscribed)
    #expect(clock.sleeperCount == 0)
  }

  @Test(arguments: TimedOperator.all)
  func `R9 a clock may call back into the source, the operator and the token`(
    timed: TimedOperator
  ) async {
    await #expect(processExitsWith: .success) { [name = timed.name as String] in
      mustEnd()
      guard let timed = TimedOperator.all.first(where: { $0.name == name }) else { return }
      let source = BroadcastSource<Int>()
      let uses = Shared(0)
      let token = Shared<Subscription?>(nil)
      let clock = NosyClock {
        // What it sends makes the operator ask for the time again.
        if uses.increment() > 50 { return }
        source.broadcast(-1)
        _ = token.value?.isSubscribed
        source.publisher.subscribe { _ in }.invalidate()
      }
      token.value = timed.apply(source.publisher, clock).subscribe { _ in }
      for number in 0..<5 {
        source.broadcast(number)
        clock.manual.advance(by: .milliseconds(400))
      }
      source.broadcast(6)
      token.value?.invalidate()
    }
  }

  @Test(arguments: TimedOperator.all)
  func `a clock that calls inside schedule is served`(timed: TimedOperator) {
    let recorder = Recorder(timed.apply(source.publisher, HastyClock()))
    source.broadcast(1)
    #expect(recorder.updates == [1])
    source.end()
    #expect(recorder.hasEnded)
  }

  @Test(arguments: TimedOperator.all)
  func `a clock that throws is quiet, and time stands still`(timed: TimedOperator) {
    let recorder = Recorder(timed.apply(source.publisher, StoppedClock()))
    for number in 1...3 { source.broadcast(number) }
    #expect(recorder.updates == (timed.isPrompt ? [1] : []))
    recorder.invalidate()
  }

  @Test func `the real clock delivers`() async {
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

  @Test func `R23 a negative duration stops the program with advice`() async {
    let debounce = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Broadcaster<Int>.never.debounce(for: .seconds(-1))
    }
    let throttle = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Broadcaster<Int>.never.throttle(for: .seconds(-1))
    }
    let delay = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Broadcaster<Int>.never.delay(for: .seconds(-1))
    }
    let timeout = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PublishedTask<Int, Never>.never.timeout(after: .seconds(-1))
    }
    let results = [
      ("debounce", debounce), ("throttle", throttle), ("delay", delay), ("timeout", timeout),
    ]
    for (name, result) in results {
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
      #expect(message.contains("'\(name)' takes a duration of 0 or more, not -1.0 seconds."))
    }
  }
}
