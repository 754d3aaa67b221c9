import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ThrottleTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test func `the first comes at once, then the latest at the end of each interval`() {
    let recorder = Recorder(source.publisher.throttle(for: .seconds(1), clock: clock))
    source.broadcast(1)
    #expect(recorder.updates == [1])
    source.broadcast(2)
    source.broadcast(3)
    #expect(recorder.updates == [1])
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1, 3])
    source.broadcast(4)
    #expect(recorder.updates == [1, 3])
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1, 3, 4])
    clock.advance(by: .seconds(1))
    source.broadcast(5)
    #expect(recorder.updates == [1, 3, 4, 5])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `without latest, what comes during an interval is left out, and no timer is needed`() {
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

  @Test func `R28 a published value comes at once, and its last change is never left out`() {
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

  @Test func `R17 a change that has been undone is skipped, and begins no interval`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher.throttle(for: .seconds(1), clock: clock))
    property.value = 2
    property.value = 1
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1])
    property.value = 3
    #expect(recorder.updates == [1, 3])
  }

  @Test func `what is pending when the source ends is delivered at once, then it ends`() {
    let recorder = Recorder(source.publisher.throttle(for: .seconds(1), clock: clock))
    source.broadcast(1)
    source.broadcast(2)

    source.end()

    #expect(recorder.updates == [1, 2])
    #expect(recorder.hasEnded && !recorder.isSubscribed)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `with 0 every update passes at once`() {
    let recorder = Recorder(source.publisher.throttle(for: .zero, clock: clock))
    for number in 1...3 { source.broadcast(number) }
    #expect(recorder.updates == [1, 2, 3])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `R3 an update that the callback sends waits for the end of the interval`() {
    let recorder = Recorder(source.publisher.throttle(for: .seconds(1), clock: clock)) {
      [source] in if $0 < 4 { source.broadcast($0 + 1) }
    }
    source.broadcast(1)
    #expect(recorder.updates == [1])
    clock.advance(by: .seconds(2))
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `two calls are an interval apart, whoever sends and whoever advances`() {
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
      // The clock may have moved on between the call and the look.
      #expect(recorder.updates.count <= 1 + 45 / 5)
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `R16 when all is quiet the last value seen is the one of the source`() {
    for round in 0..<scaled(300) {
      let clock = ManualClock()
      let property = PublishedProperty(0)
      let recorder = Recorder(property.publisher.throttle(for: .milliseconds(3), clock: clock))
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
}
