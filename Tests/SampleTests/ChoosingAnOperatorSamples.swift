import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private let beats = BroadcastSource<Int>()

/// Calls `tick` until `stop()`.
private final class Ticking: Sendable {
  private let subscription: Subscription

  init(_ tick: @escaping @Sendable (Int) -> Void) {
    subscription = beats.publisher.subscribe(tick)
  }

  func stop() { subscription.invalidate() }
}

@Suite(.light) struct ChoosingAnOperatorSamples {
  @Test func `one timer serves all subscribers until the last cancellation`() {
    let ticks = Broadcaster<Int> { receive in
      let timer = Ticking { receive($0) }
      return Subscription { timer.stop() }
    }.share()

    let first = Recorder(ticks)
    let second = Recorder(ticks)
    #expect(beats.subscriberCount == 1)
    beats.broadcast(1)
    #expect(first.updates == [1] && second.updates == [1])
    first.invalidate()
    second.invalidate()
    #expect(beats.subscriberCount == 0)
  }

  @Test func `an operator returns the kind that it can guarantee`() {
    let level = PublishedProperty(3)

    let percent: PublishedValue<String> = level.publisher.map { "\($0) %" }
    let alarms: Broadcaster<Int> = level.publisher.filter { $0 > 90 }
    let alarm: PublishedValue<Int> = alarms.publishedValue(initial: 0)
    let now: String? = percent.current()

    #expect(now == "3 %")
    level.value = 95
    #expect(percent.current() == "95 %")
    #expect(alarm.current() == 95)
    // The first value arrives asynchronously, so no current value exists.
    let later = percent.delay(for: .seconds(1), clock: ManualClock())
    #expect(later.current() == nil)
  }

  @Test func `a search starts after a pause in typing`() {
    let clock = ManualClock()
    let search: @Sendable (String) -> PublishedTask<[String], Never> = { .success([$0, "\($0)s"]) }

    let query = PublishedProperty("")
    let hits = query.publisher
      .debounce(for: .milliseconds(300), clock: clock)
      .broadcaster
      .flatMapLatest { search($0) }

    let recorder = Recorder(hits.map { $0.get() })
    query.value = "ca"
    query.value = "cat"
    clock.advance(by: .milliseconds(300))
    #expect(recorder.updates == [["", "s"], ["cat", "cats"]])
  }
}
