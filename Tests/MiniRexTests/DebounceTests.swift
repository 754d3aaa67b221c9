import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct DebounceTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test func `it calls with the last update once it has been quiet`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(1)
    clock.advance(by: .milliseconds(900))
    source.broadcast(2)
    clock.advance(by: .milliseconds(900))
    #expect(recorder.updates == [])
    #expect(clock.sleeperCount == 1)

    clock.advance(by: .milliseconds(100))

    #expect(recorder.updates == [2])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `the next deadline of the clock is that of the last update`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(1)
    clock.advance(by: .milliseconds(500))
    source.broadcast(2)

    #expect(clock.advanceToNext())

    #expect(recorder.updates == [2])
    #expect(clock.now.offset == .milliseconds(1_500))
  }

  @Test func `R28 a published value comes at once, and only its changes are timed`() {
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

  @Test func `R17 a change that has been undone meanwhile is skipped, objects by identity`() {
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

  @Test func `what is pending when the source ends is delivered at once, then it ends`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(1)
    source.broadcast(2)

    source.end()

    #expect(recorder.updates == [2])
    #expect(recorder.hasEnded && !recorder.isSubscribed)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `with 0 an update waits for the clock, which may advance by zero`() {
    let recorder = Recorder(source.publisher.debounce(for: .zero, clock: clock))
    source.broadcast(1)
    source.broadcast(2)
    #expect(recorder.updates == [])
    clock.advance(by: .zero)
    #expect(recorder.updates == [2])
  }

  @Test func `an update sent by the call that the timer makes waits for its own time`() {
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock)) {
      [source] in if $0 < 3 { source.broadcast($0 + 1) }
    }
    source.broadcast(1)
    clock.advance(by: .milliseconds(2_999))
    #expect(recorder.updates == [1, 2])
    clock.advance(by: .milliseconds(1))
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `a timer that rings late does not deliver the update that came meanwhile`() {
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

  @Test func `an update that comes while the timer fires is neither lost nor overtaken`() {
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

  @Test func `R16 when all is quiet the last value seen is the one of the source`() {
    for round in 0..<scaled(300) {
      let clock = ManualClock()
      let property = PublishedProperty(0)
      let recorder = Recorder(property.publisher.debounce(for: .milliseconds(1), clock: clock))
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
      clock.advance(by: .milliseconds(1))
      #expect(recorder.updates.last == property.value)
    }
  }

  @Test func `on a clock that only sleeps, a burst sleeps once, and until its own deadline`()
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
