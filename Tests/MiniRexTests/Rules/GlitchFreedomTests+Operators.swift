import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Operators without a queue that return a broadcaster. `publishedValue(initial:)` reads their
/// source.
extension GlitchFreedomTests {
  @Test(arguments: ["pairs", "prefix(until:)", "drop(until:)", "withLatest"])
  func `R30 an operator without a queue passes on its source`(name: String) {
    let signal = BroadcastSource<Void>()
    let passedOn: Broadcaster<Int> =
      switch name {
      case "pairs": number.publisher.pairs().map { $1 }
      case "prefix(until:)": number.publisher.prefix(until: signal.publisher)
      case "drop(until:)": number.publisher.drop(until: signal.publisher)
      default: number.publisher.withLatest(from: other.publisher).map { $0 + $1 }
      }
    let value = passedOn.publishedValue(initial: 0)
    if name == "drop(until:)" { signal.broadcast(()) }
    let pairs = Recorder(combineLatest(value, number.publisher.map { $0 * 10 }) { [$0, $1] })
    for next in 1...2 { number.value = next }
    #expect(pairs.updates == [[0, 0], [1, 10], [2, 20]])
  }

  @Test func `R26 R30 a signal from the source finishes an input during a turn`() {
    let isTwo = number.publisher.broadcaster.filter { $0 == 2 }
    let value = number.publisher.prefix(until: isTwo).publishedValue(initial: 0)
    let pairs = Recorder(combineLatest(value, number.publisher.map { $0 * 10 }) { [$0, $1] })
    for next in 1...3 { number.value = next }
    #expect(pairs.updates == [[0, 0], [1, 10], [1, 20], [1, 30]])
  }
}
