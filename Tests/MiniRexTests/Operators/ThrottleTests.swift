import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ThrottleTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test func `throttle without latest drops updates within an interval and needs no timer`() {
    let recorder = Recorder(
      source.publisher.throttle(for: .seconds(1), latest: false, clock: clock))
    source.broadcast(1)
    source.broadcast(2)
    #expect(clock.sleeperCount == 0)
    clock.advance(by: .seconds(1))
    source.broadcast(3)
    source.broadcast(4)
    clock.advance(by: .seconds(5))
    #expect(recorder.updates == [1, 3])
  }

  @Test func `R28 throttle emits a current value immediately and never drops the last change`() {
    for latest in [true, false] {
      let property = PublishedProperty(1)
      let value = property.publisher.throttle(for: .seconds(1), latest: latest, clock: clock)
      let recorder = Recorder(value)
      #expect(recorder.updates == [1])
      #expect(value.current() == 1)
      property.value = 2
      property.value = 3
      clock.advance(by: .seconds(1))
      #expect(recorder.updates == [1, 3])
    }
  }

  @Test func `R17 a change undone within the interval is skipped and starts no interval`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher.throttle(for: .seconds(1), clock: clock))
    property.value = 2
    property.value = 1
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1])
    property.value = 3
    #expect(recorder.updates == [1, 3])
  }

  @Test func `R3 a re-entrant update waits for the end of the interval`() {
    let recorder = Recorder(source.publisher.throttle(for: .seconds(1), clock: clock)) {
      [source] in if $0 < 4 { source.broadcast($0 + 1) }
    }
    source.broadcast(1)
    #expect(recorder.updates == [1])
    clock.advance(by: .seconds(2))
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `callbacks are an interval apart with any threads`() {
    for _ in 0..<scaled(300) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let times = Shared<[Duration]>([])
      let recorder = Recorder(source.publisher.throttle(for: .milliseconds(5), clock: clock)) {
        _ in times.change { $0.append(clock.now.offset) }
      }
      onThreads(2) { index in
        for number in 1...40 {
          if index == 0 { source.broadcast(number) } else { clock.advance(by: .milliseconds(1)) }
        }
      }
      clock.advance(by: .milliseconds(5))

      #expect(recorder.updates.last == 40)
      #expect(recorder.updates == recorder.updates.sorted())
      // The clock may have advanced between the callback and its read of the time.
      #expect(recorder.updates.count <= 1 + 45 / 5)
      #expect(clock.sleeperCount == 0)
    }
  }
}
