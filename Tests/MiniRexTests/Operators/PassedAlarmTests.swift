import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Alarms that the clock passes after their instant was computed and before they are scheduled.
@Suite(.light) struct PassedAlarmTests {
  let clock = MovingClock()
  let source = BroadcastSource<Int>()

  @Test(arguments: [Duration.zero, .seconds(1)])
  func `R25 debounce and delay emit an update although the clock passes its deadline early`(
    interval: Duration
  ) {
    let clocks = [clock, MovingClock()]
    let debounced = Recorder(source.publisher.debounce(for: interval, clock: clocks[0]))
    let delayed = Recorder(source.publisher.delay(for: interval, clock: clocks[1]))
    for clock in clocks { clock.step.value = .seconds(1) }

    source.broadcast(1)

    #expect(debounced.updates == [1] && delayed.updates == [1])
    #expect(clocks.allSatisfy { $0.manual.sleeperCount == 0 })
  }

  @Test func `R25 an interval of 0 waits until the clock runs`() {
    let clock = ManualClock()
    let publishers = [
      source.publisher.debounce(for: .zero, clock: clock),
      source.publisher.delay(for: .zero, clock: clock),
      source.publisher.chunked(every: .zero, clock: clock).compactMap(\.first),
    ]
    let recorders = publishers.map { Recorder($0) }
    source.broadcast(1)
    #expect(recorders.map(\.updates) == [[], [], []])
    clock.advance(by: .zero)
    #expect(recorders.map(\.updates) == [[1], [1], [1]])
  }

  @Test(arguments: [true, false])
  func `R25 throttle emits the latest update although the clock passes the interval early`(
    isValue: Bool
  ) {
    let property = PublishedProperty(0)
    let throttled = property.publisher.throttle(for: .seconds(1), latest: !isValue, clock: clock)
    let recorder = Recorder(isValue ? throttled : throttled.broadcaster.publishedValue(initial: 0))
    clock.step.value = .seconds(1)

    property.value = 1

    #expect(recorder.updates == [0, 1])
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `R25 throttleProgress emits although the clock passes the interval early`() {
    let task = ProgressiveTaskSource<Int, Int, Never>()
    let recorder = Recorder(task.publisher.throttleProgress(for: .seconds(1), clock: clock))
    task.report(1)
    clock.step.value = .seconds(1)

    task.report(2)

    #expect(recorder.updates == [.progress(1), .progress(2)])
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `R25 chunked emits a chunk although the clock passes its interval early`() {
    let recorder = Recorder(source.publisher.chunked(every: .seconds(1), clock: clock))
    clock.step.value = .seconds(1)

    source.broadcast(1)

    #expect(recorder.updates == [[1]])
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `R25 a broadcaster of ticks emits although the clock passes the first ticks early`() {
    clock.step.value = .seconds(2)

    let recorder = Recorder(clock.broadcaster(every: .seconds(1)))

    #expect(recorder.updates == [.seconds(1), .seconds(2)])
    #expect(clock.manual.sleeperCount == 1)
    clock.manual.advance(by: .seconds(1))
    #expect(recorder.updates.last == .seconds(3))
  }

  @Test func `R25 a timeout fails and cancels although the clock passes its deadline early`() {
    let (starts, stops) = (Shared(0), Shared(0))
    let task = PublishedTask<Int, Never> { _ in
      starts.increment()
      return Subscription { stops.increment() }
    }
    clock.step.value = .seconds(1)

    let recorder = Recorder(task.timeout(after: .seconds(1), clock: clock))

    #expect(recorder.updates == [.failure(.timedOut)])
    #expect(starts.value == stops.value)
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `R25 a delayed constant succeeds although the clock passes its instant early`() {
    clock.step.value = .seconds(1)

    let recorder = Recorder(PublishedTask<Int, Never>.success(1, after: .seconds(1), clock: clock))

    #expect(recorder.updates == [.success(1)])
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `R25 share(for:) ends although the clock passes its duration early`() {
    let stops = Shared(0)
    let shared = Broadcaster<Int> { _ in Subscription { stops.increment() } }
      .share(for: .seconds(1), clock: clock)
    let subscription = shared.subscribe { _ in }
    clock.step.value = .seconds(1)

    subscription.invalidate()

    #expect(stops.value == 1)
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `F13 a timeout cancels a subscriber although the clock passes its deadline early`()
    async
  {
    let values = source.publisher.values(.suspending(1, timeout: .seconds(1), clock: clock))
    clock.step.value = .seconds(1)

    source.broadcast(1)

    #expect(source.slowSubscribers.isEmpty)
    #expect(clock.manual.sleeperCount == 0)
    withExtendedLifetime(values) {}
  }
}
