import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DelayTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  @Test func `delay emits every update in order with one timer`() {
    let times = Shared<[Duration]>([])
    let recorder = Recorder(source.publisher.delay(for: .seconds(2), clock: clock)) {
      [clock] _ in times.change { $0.append(clock.now.offset) }
    }
    source.broadcast(1)
    source.broadcast(2)
    clock.advance(by: .seconds(1))
    source.broadcast(3)
    #expect(clock.sleeperCount == 1)
    #expect(recorder.updates == [])

    clock.advance(by: .seconds(5))

    #expect(recorder.updates == [1, 2, 3])
    #expect(times.value == [.seconds(2), .seconds(2), .seconds(3)])
  }

  @Test func `R28 delay also delays the first value`() {
    let property = PublishedProperty(1)
    let value = property.publisher.delay(for: .seconds(1), clock: clock)
    let recorder = Recorder(value)
    property.value = 2
    #expect(recorder.updates == [])
    #expect(value.current() == nil)
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1, 2])
  }

  @Test func `delay shifts progress and the result for each subscriber`() {
    let source = ProgressiveTaskSource<Int, String, Never>()
    let delayed = source.publisher.delay(for: .seconds(2), clock: clock)
    let early = Recorder(delayed.broadcaster.map { "\($0)" })
    source.report(1)
    clock.advance(by: .seconds(1))
    source.finish(.success("done"))
    clock.advance(by: .seconds(1))
    #expect(early.updates == ["progress(1)"])
    let late = Recorder(delayed)
    clock.advance(by: .seconds(1))
    #expect(early.updates.count == 2)
    #expect(early.hasEnded)
    #expect(late.updates.count == 0)
    clock.advance(by: .seconds(1))
    #expect(late.updates.count == 1)
    #expect(late.hasEnded)
  }

  @Test func `10,000 simultaneous updates use constant stack`() {
    let recorder = Shared(0)
    let count = chainSteps(overflowingDepth)
    onThread(stackSize: 512 * 1024) { [source, clock] in
      let subscription = source.publisher.delay(for: .seconds(1), clock: clock)
        .subscribe { _ in recorder.increment() }
      for number in 0..<count { source.broadcast(number) }
      clock.advance(by: .seconds(1))
      withExtendedLifetime(subscription) {}
    }
    #expect(recorder.value == count)
  }

  @Test func `every update arrives once and in order from any thread`() {
    for _ in 0..<scaled(300) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let recorder = Recorder(source.publisher.delay(for: .milliseconds(2), clock: clock))
      onThreads(2) { index in
        for number in 1...40 {
          if index == 0 { source.broadcast(number) } else { clock.advance(by: .milliseconds(1)) }
        }
      }
      clock.advance(by: .milliseconds(2))
      #expect(recorder.updates == Array(1...40))
      #expect(clock.sleeperCount == 0)
    }
  }
}
