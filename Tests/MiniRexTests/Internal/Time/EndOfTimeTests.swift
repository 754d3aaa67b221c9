import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Durations beyond the range of a clock, each in its own process because an overflow would trap.
@Suite(.light) struct EndOfTimeTests {
  @Test(.enabled(if: scale >= 1, "a sleep that never ends looks lost to a leak detector"))
  func `R25 a wait beyond the range of the real clock never ends`() async {
    await #expect(processExitsWith: .success) {
      for far in [Duration.seconds(Int64.max), Duration(attoseconds: .max)] {
        let source = BroadcastSource<Int>()
        let publishers = [
          source.publisher.debounce(for: far), source.publisher.delay(for: far),
          source.publisher.throttle(for: far), .sequence([1], after: far),
          ContinuousClock().broadcaster(every: far).map { _ in 2 },
          SuspendingClock().broadcaster(every: far).map { _ in 3 },
        ]
        let recorders = publishers.map { Recorder($0) }
        let timeout = Recorder(PublishedTask<Int, Never>.never.timeout(after: far))
        let constant = Recorder(PublishedTask<Int, Never>.success(1, after: far))
        let delays: [RetryDelay] = [
          .constant(far), .exponential(from: far, upTo: far, jitter: 0.5),
          .exponential(from: .seconds(1), upTo: far),
        ]
        let tries = delays.map { delay in
          Recorder(
            PublishedTask<Int, TimeoutError<Never>>.retrying(times: 3, delay: delay) {
              () async throws(TimeoutError<Never>) in throw .timedOut
            })
        }

        source.broadcast(1)
        source.broadcast(2)
        // An update that was emitted too early would have arrived before these ticks.
        _ = await Recorder(ContinuousClock().broadcaster(every: .milliseconds(5))).next(4)

        for (index, recorder) in recorders.enumerated() {
          precondition(recorder.updates == (index == 2 ? [1] : []), "\(index)")
        }
        precondition(timeout.updates.isEmpty && constant.updates.isEmpty)
        precondition(tries.allSatisfy { $0.updates.isEmpty })
      }
    }
  }

  @Test func `R25 a manual clock stops at its last instant`() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock()
      let far = Duration.seconds(Int64.max)
      let ticks = Recorder(clock.broadcaster(every: far))
      let source = BroadcastSource<Int>()
      let delayed = Recorder(source.publisher.delay(for: far, clock: clock))
      source.broadcast(1)

      await clock.advance(by: .seconds(5))
      precondition(delayed.updates.isEmpty && ticks.updates.isEmpty)
      for _ in 0..<20 { await clock.advance(by: far) }
      await clock.advance(by: Duration(attoseconds: .max))

      precondition(clock.now == clock.now.advanced(by: .seconds(1)))
      precondition(clock.now.offset == far)
      precondition(delayed.updates == [1] && ticks.updates.count == 1)
    }
  }
}
