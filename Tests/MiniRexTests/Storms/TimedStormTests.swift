import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized) struct TimedStormTests {
  @Test(arguments: TimedOperator.all)
  func `R25 no due update is pending after concurrent sends and advances`(timed: TimedOperator) {
    for round in 0..<scaled(100) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let recorder = Recorder(timed.apply(source.publisher, clock))
      onThreads(2) { index in
        for step in 0..<20 {
          if index == 0 {
            source.broadcast(step)
          } else {
            clock.advance(by: .milliseconds(250))
          }
        }
      }
      let count = recorder.updates.count

      clock.advance(by: .zero)

      #expect(recorder.updates.count == count, "round \(round)")
      if recorder.updates.count != count { return }
    }
  }

  @Test func `R25 no due tick is pending after concurrent subscriptions and advances`() {
    for round in 0..<scaled(100) {
      let clock = ManualClock()
      let ticks = Recorder(clock.broadcaster(every: .milliseconds(250)))
      let recorders = Shared<[Recorder<Duration>]>([])
      onThreads(2) { index in
        for _ in 0..<20 {
          if index == 0 {
            recorders.append(Recorder(clock.broadcaster(every: .milliseconds(250))))
          } else {
            clock.advance(by: .milliseconds(250))
          }
        }
      }
      let counts = recorders.value.map(\.updates.count)

      clock.advance(by: .zero)

      #expect(recorders.value.map(\.updates.count) == counts, "round \(round)")
      #expect(ticks.updates.count == 20)
      if recorders.value.map(\.updates.count) != counts { return }
    }
  }
}
