import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private let traps: [Trap] = [
  Trap("'prefix' requires a count of 0 or more, not -1.") {
    _ = Broadcaster<Int>.never.prefix(-1)
  },
  Trap("'dropFirst' requires a count of 0 or more, not -1.") {
    _ = Broadcaster<Int>.never.dropFirst(-1)
  },
  Trap("'next' requires a count of 0 or more, not -1.") {
    _ = await Recorder(Broadcaster<Int>.never).next(-1)
  },
  Trap("'debounce' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = Broadcaster<Int>.never.debounce(for: .seconds(-1))
  },
  Trap("'suspending' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = BufferingPolicy<BroadcasterKind>.suspending(1, timeout: .seconds(-1))
  },
  Trap("'throttleProgress' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = ProgressiveTask<Int, Int, Never>.never.throttleProgress(for: .seconds(-1))
  },
  Trap("'share' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = Broadcaster<Int>.never.share(for: .seconds(-1))
  },
  Trap("'throttle' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = Broadcaster<Int>.never.throttle(for: .seconds(-1))
  },
  Trap("'delay' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = Broadcaster<Int>.never.delay(for: .seconds(-1))
  },
  Trap("'timeout' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = PublishedTask<Int, Never>.never.timeout(after: .seconds(-1))
  },
  Trap("'chunked' requires a count of 1 or more, not 0.") {
    _ = Broadcaster<Int>.never.chunked(by: 0)
  },
  Trap("'chunked' requires a count of 1 or more, not -1.") {
    _ = Broadcaster<Int>.never.chunked(by: -1, every: .seconds(1))
  },
  Trap("'chunked' requires a duration of 0 or more, not -1.0 seconds.") {
    _ = Broadcaster<Int>.never.chunked(every: .seconds(-1))
  },
  Trap("'flatMap' requires a limit of 1 or more, not 0.") {
    _ = Broadcaster<Int>.never.flatMap(limit: 0) { .sequence([$0]) }
  },
  Trap("'all' requires a limit of 1 or more, not 0.") {
    _ = all([1], limit: 0) { PublishedTask<Int, Never>.success($0) }
  },
  Trap("'all' requires a weight for each of its 1 tasks, not 2 weights.") {
    _ = all([1], limit: 1, weights: [1, 2]) { ProgressiveTask<Double, Int, Never>(.success($0)) }
  },
  Trap("'all' requires a weight for each of its 1 tasks, not 0 weights.") {
    _ = all([ProgressiveTaskSource<Double, Int, Never>().publisher], weights: [])
  },
  Trap("'all' requires") {
    _ = all([ProgressiveTaskSource<Double, Int, Never>().publisher], weights: [-1])
  },
  Trap("'retrying' requires a count of 0 or more, not -1.") {
    _ = PublishedTask.retrying(times: -1) { 1 }
  },
  Trap("'constant' requires a duration of 0 or more") {
    _ = RetryDelay.constant(.seconds(-1))
  },
  Trap("'jitter' requires a fraction from 0 to 1, not 1.5.") {
    _ = RetryDelay.exponential(from: .zero, upTo: .zero, jitter: 1.5)
  },
  Trap("'after' requires a duration of 0 or more") {
    _ = PublishedTask.success(1, after: .seconds(-1))
  },
  Trap("requires an interval longer than 0") {
    _ = Broadcaster.sequence([1], every: .zero)
  },
  Trap("'broadcaster(every:)' requires an interval longer than 0") {
    _ = ManualClock().broadcaster(every: .zero)
  },
  Trap("requires a limit of 1 or more") {
    _ = BufferingPolicy<PublishedValueKind>.bufferingNewest(0)
  },
  Trap("requires a limit of 1 or more") {
    _ = BufferingPolicy<BroadcasterKind>.bufferingNewest(-1)
  },
  Trap("requires a limit of 1 or more") {
    _ = BufferingPolicy<BroadcasterKind>.bufferingOldest(0)
  },
  Trap("use 'withInstrument'") {
    for _ in 0..<2 { setDefaultInstrument(PrintingInstrument()) }
  },
]

private let modifyTraps: [@Sendable (PublishedProperty<Int>) -> Void] = [
  { property in property.modify { $0 += property.value } },
  { property in property.modify { _ in property.modify { $0 += 1 } } },
  { property in property.modify { _ in property.publisher.subscribe { _ in }.invalidate() } },
]

@Suite(.light) struct TrapTests {
  @Test(arguments: traps.indices)
  func `R23 invalid arguments trap with a remedy`(index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index = index as Int] in
      await traps[index].mistake()
    }
    #expect(advice(result).contains(traps[index].message), "\(traps[index].message)")
  }

  @Test(arguments: modifyTraps.indices)
  func `R27 accessing the property inside its modify traps with a remedy`(index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index = index as Int] in
      mustEnd()
      modifyTraps[index](PublishedProperty(1))
    }
    #expect(advice(result).contains("inside its own 'modify'"))
    #expect(advice(result).contains("Use the 'inout' parameter"))
  }
}
