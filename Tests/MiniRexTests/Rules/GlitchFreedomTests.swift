import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// A combination whose inputs derive from one source emits once per turn.
@Suite(.light) struct GlitchFreedomTests {
  let number = PublishedProperty(0)
  let other = PublishedProperty(0)

  private var tens: PublishedValue<Int> { number.publisher.map { $0 * 10 } }

  @Test(arguments: [2, 3, 8, 9])
  func `R30 combineLatest is glitch-free`(inputs: Int) {
    let p = (0..<inputs).map { index in number.publisher.map { $0 * 10 + index } }
    let all: PublishedValue<[Int]> =
      switch inputs {
      case 2: combineLatest(p[0], p[1]) { [$0, $1] }
      case 3: combineLatest(p[0], p[1], p[2]) { [$0, $1, $2] }
      case 8:
        combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]) {
          [$0, $1, $2, $3, $4, $5, $6, $7]
        }
      default:
        combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]) {
          [$0, $1, $2, $3, $4, $5, $6, $7, $8]
        }
      }
    let recorder = Recorder(all)
    for next in 1...3 { number.value = next }
    number.modify { _ in }
    #expect(recorder.updates == (0...3).map { next in (0..<inputs).map { next * 10 + $0 } })
  }

  @Test func `R30 unchanged inputs delay nothing, and duplicates are skipped`() {
    let pairs = Recorder(
      combineLatest(number.publisher.map { $0 / 10 }, number.publisher.map { $0 % 10 }) {
        [$0, $1]
      })
    for next in [3, 43, 43, 44, 51] { number.value = next }
    #expect(pairs.updates == [[0, 0], [0, 3], [4, 3], [4, 4], [5, 1]])
  }

  @Test func `R30 a turn without a changed input does not split the next turn`() {
    let evens = number.publisher.broadcaster.filter { $0.isMultiple(of: 2) }
    let pairs = Recorder(
      combineLatest(
        evens.publishedValue(initial: 0), evens.map { $0 * 10 }.publishedValue(initial: 0)
      ) { [$0, $1] })
    for next in 1...4 { number.value = next }
    #expect(pairs.updates == [[0, 0], [2, 20], [4, 40]])
  }

  @Test func `R30 an inner combination updates before the outer combination emits`() {
    let inner = combineLatest(number.publisher, tens) { [$0, $1] }
    let first = Recorder(combineLatest(inner, number.publisher) { $0 + [$1] })
    let last = Recorder(combineLatest(tens, inner) { [$0] + $1 })
    let deep = Recorder(
      combineLatest(number.publisher, combineLatest(tens, inner) { [$0] + $1 }) { [$0] + $1 })
    for next in 1...2 { number.value = next }
    #expect(first.updates == (0...2).map { [$0, $0 * 10, $0] })
    #expect(last.updates == (0...2).map { [$0 * 10, $0, $0 * 10] })
    #expect(deep.updates == (0...2).map { [$0, $0 * 10, $0, $0 * 10] })
  }

  @Test func `R30 inner combinations of two sources agree in the outer combination`() {
    let sums = combineLatest(number.publisher, other.publisher) { [$0, $1] }
    let products = combineLatest(other.publisher.map { $0 * 10 }, tens) { [$0, $1] }
    let both = Recorder(combineLatest(sums, products) { $0 + $1 })
    number.value = 1
    other.value = 2
    #expect(both.updates == [[0, 0, 0, 0], [1, 0, 0, 10], [1, 2, 20, 10]])
  }

  @Test func `R30 a nested turn of another source joins the update`() {
    let subscription = number.publisher.map { -$0 }.subscribe { [other] in other.value = $0 }
    let sums = combineLatest(number.publisher, other.publisher) { [$0, $1] }
    let inTransform = tens.map { [other] number in
      other.value = number
      return number
    }
    let products = combineLatest(inTransform, other.publisher.map { $0 * 10 }) { [$0, $1] }
    let both = Recorder(combineLatest(sums, products) { $0 + $1 })
    number.value = 1
    #expect(both.updates == [[0, 0, 0, 0], [1, 10, 10, 100]])
    withExtendedLifetime(subscription) {}
  }

  @Test func `R30 share and publishedValue pass on their source`() {
    let source = BroadcastSource<Int>()
    let value = source.publisher.filter { $0 > 0 }.publishedValue(initial: 0)
    let shared = value.share()
    let earlier = Recorder(shared)
    let triples = Recorder(
      combineLatest(
        value, shared.map { $0 * 10 }, source.publisher.scan(0, +).publishedValue(initial: 0)
      ) { [$0, $1, $2] })
    for next in [1, -1, 2] { source.broadcast(next) }
    #expect(triples.updates == [[0, 0, 0], [1, 10, 1], [1, 10, 0], [2, 20, 2]])
    #expect(earlier.updates == [0, 1, 2])
  }

  @Test func `R30 a shared dispatch or merge acts as a separate source`() {
    let merged = merge(number.publisher, other.publisher).publishedValue(initial: 0)
    let pairs = Recorder(combineLatest(merged, merged.map { $0 * 10 }) { [$0, $1] })
    number.value = 1
    other.value = 2
    #expect(pairs.updates == [[0, 0], [1, 10], [2, 20]])
  }

  @Test func `R4 R30 a combination emits at its own position among the subscribers`() {
    let log = Shared<[String]>([])
    let pair = combineLatest(number.publisher, tens) { "\($0) \($1)" }
    let recorders = [
      Recorder(number.publisher.map { "before \($0)" }) { log.append($0) },
      Recorder(pair) { log.append($0) },
      Recorder(number.publisher.map { "after \($0)" }) { log.append($0) },
    ]
    log.value = []
    number.value = 1
    #expect(log.value == ["before 1", "1 10", "after 1"])
    withExtendedLifetime(recorders) {}
  }

  @Test func `R28 R30 the first callback runs inside subscribe, once`() {
    let pairs = Recorder(combineLatest(number.publisher, tens) { [$0, $1] })
    #expect(pairs.updates == [[0, 0]])
  }
}
