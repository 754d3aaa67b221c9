import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DebounceTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test func `the clock waits until the deadline of the last update`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(1)
    clock.advance(by: .milliseconds(500))
    source.broadcast(2)

    #expect(clock.advanceToNext())

    #expect(recorder.updates == [2])
    #expect(clock.now.offset == .milliseconds(1_500))
  }

  @Test func `R28 debounce emits a current value immediately and delays only changes`() {
    let property = PublishedProperty(1)
    let value = property.publisher.debounce(for: .seconds(1), clock: clock)
    let recorder = Recorder(value)
    #expect(recorder.updates == [1])
    #expect(value.current() == 1)

    property.value = 2
    property.value = 3
    #expect(recorder.updates == [1])
    clock.advance(by: .seconds(1))

    #expect(recorder.updates == [1, 3])
  }

  @Test func `R17 a change undone within the interval is skipped, objects by identity`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher.debounce(for: .seconds(1), clock: clock))
    property.value = 2
    property.value = 1
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1])

    let thing = Thing()
    let things = PublishedProperty(thing)
    let calls = Recorder(things.publisher.debounce(for: .seconds(1), clock: clock))
    things.value = Thing()
    things.value = thing
    clock.advance(by: .seconds(1))
    #expect(calls.updates.count == 1)
  }

  @Test func `an update sent in the callback waits for its own interval`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock)) {
      [source] in if $0 < 3 { source.broadcast($0 + 1) }
    }
    source.broadcast(1)
    clock.advance(by: .milliseconds(2_999))
    #expect(recorder.updates == [1, 2])
    clock.advance(by: .milliseconds(1))
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `a late timer does not emit an update that arrived after its deadline`() {
    let clock = HandClock()
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock)) {
      [source] number in
      if number > 1 { return }
      source.broadcast(2)
      clock.set(to: .milliseconds(1_500))
      source.broadcast(3)
      clock.set(to: .milliseconds(2_200))
    }
    source.broadcast(1)
    clock.set(to: .seconds(1))
    clock.callWhatIsDue()
    #expect(recorder.updates == [1])

    clock.set(to: .milliseconds(2_500))
    clock.callWhatIsDue()

    #expect(recorder.updates == [1, 3])
  }

  @Test func `an update that arrives while the timer fires is neither lost nor reordered`() {
    for _ in 0..<scaled(500) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let recorder = Recorder(source.publisher.debounce(for: .milliseconds(1), clock: clock))
      onThreads(2) { index in
        for number in 1...20 {
          if index == 0 { source.broadcast(number) } else { clock.advance(by: .milliseconds(1)) }
        }
      }
      clock.advance(by: .milliseconds(1))

      #expect(recorder.updates.last == 20)
      #expect(recorder.updates == recorder.updates.sorted())
      #expect(Set(recorder.updates).count == recorder.updates.count)
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `on a clock without scheduling, a burst sleeps twice at most`()
    async
  {
    let sleeping = SleepingClock(manual: clock)
    let wasCancelled = Shared<Bool?>(nil)
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: sleeping)) { _ in
      wasCancelled.value = Task.isCancelled
    }
    source.broadcast(0)
    await clock.waitForSleepers(1)
    await clock.advance(by: .milliseconds(500))
    for number in 1...1_000 { source.broadcast(number) }

    await clock.advance(by: .milliseconds(500))
    await clock.waitForSleepers(1)
    #expect(recorder.updates == [])
    await clock.advance(by: .milliseconds(500))

    #expect(await recorder.next() == [1_000])
    #expect(wasCancelled.value == false)
    #expect(clock.sleeperCount == 0)
    #expect(sleeping.sleeps.value == 2)
  }
}
