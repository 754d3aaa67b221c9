import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ClockBroadcasterTests {
  let clock = ManualClock()

  @Test func `broadcaster every emits at each multiple the time since subscription`() {
    clock.advance(by: .milliseconds(300))
    let recorder = Recorder(clock.broadcaster(every: .seconds(1)))
    clock.advance(by: .milliseconds(999))
    #expect(recorder.updates == [])
    clock.advance(by: .milliseconds(1))
    #expect(recorder.updates == [.seconds(1)])
    clock.advance(by: .milliseconds(2_500))
    #expect(recorder.updates == [.seconds(1), .seconds(2), .seconds(3)])
    clock.advanceToNext()
    #expect(clock.now.offset == .milliseconds(4_300))
  }

  @Test func `R25 many intervals do not drift`() {
    let recorder = Recorder(clock.broadcaster(every: .nanoseconds(333)))
    clock.advance(by: .nanoseconds(333 * scaled(10_000)))
    #expect(recorder.updates.count == scaled(10_000))
    #expect(recorder.updates.last == .nanoseconds(333 * scaled(10_000)))
  }

  @Test func `each subscription has its own timer and cancels it`() {
    let ticks = clock.broadcaster(every: .seconds(2))
    let early = Recorder(ticks)
    clock.advance(by: .seconds(1))
    let late = Recorder(ticks)
    #expect(clock.sleeperCount == 2)
    clock.advance(by: .seconds(1))
    #expect(early.updates.count == 1)
    #expect(late.updates.count == 0)
    early.invalidate()
    late.invalidate()
    #expect(clock.sleeperCount == 0)
  }

  @Test func `prefix cancels the timer from inside the callback`() {
    let recorder = Recorder(clock.broadcaster(every: .seconds(1)).prefix(2))
    clock.advance(by: .seconds(10))
    #expect(recorder.updates == [.seconds(1), .seconds(2)])
    #expect(recorder.hasEnded)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `multiples that pass before the broadcaster can emit are skipped`() async {
    let sleeping = SleepingClock(manual: clock, lateness: .milliseconds(999_500))
    let recorder = Recorder(sleeping.broadcaster(every: .seconds(1)))
    await clock.waitForSleepers(1)
    await clock.advance(by: .milliseconds(1_000_500))
    #expect(await recorder.next() == [.seconds(1)])
    await clock.waitForSleepers(1)
    clock.advanceToNext()
    #expect(clock.now.offset == .milliseconds(2_000_500))
    #expect(await recorder.next() == [.seconds(1_001)])
  }

  @Test func `broadcaster every accepts any clock`() async {
    let clock: any Clock<Duration> = ContinuousClock()
    let recorder = Recorder(clock.broadcaster(every: .microseconds(50)).prefix(3))
    #expect(await recorder.next(3).count == 3)
  }

  @Test func `R11 invalidate releases the callback immediately, even if the clock throws`() {
    weak var captured: Thing?
    let publishers = [
      clock.broadcaster(every: .seconds(1)), StoppedClock().broadcaster(every: .seconds(1)),
    ]
    for publisher in publishers {
      let subscription = {
        let thing = Thing()
        captured = thing
        return publisher.subscribe { _ in withExtendedLifetime(thing) {} }
      }()
      #expect(captured != nil)
      subscription.invalidate()
      #expect(captured == nil)
      withExtendedLifetime(subscription) {}
    }
  }
}
