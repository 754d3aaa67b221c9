import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// One to nine inputs: overloads exist for two to eight, and a parameter pack for one and nine.
@Suite(.light) struct CombineLatestTests {
  private let inputs = (0..<9).map { PublishedProperty($0) }

  /// Each number of inputs twice: without and with a transform.
  private var combinations: [PublishedValue<[Int]>] {
    let p = inputs.map(\.publisher)
    var all: [PublishedValue<[Int]>] = []
    all.append(combineLatest(p[0]).map { [$0] })
    all.append(combineLatest(p[0]) { [$0] })
    all.append(combineLatest(p[0], p[1]).map { [$0.0, $0.1] })
    all.append(combineLatest(p[0], p[1]) { [$0, $1] })
    all.append(combineLatest(p[0], p[1], p[2]).map { [$0.0, $0.1, $0.2] })
    all.append(combineLatest(p[0], p[1], p[2]) { [$0, $1, $2] })
    all.append(combineLatest(p[0], p[1], p[2], p[3]).map { [$0.0, $0.1, $0.2, $0.3] })
    all.append(combineLatest(p[0], p[1], p[2], p[3]) { [$0, $1, $2, $3] })
    all.append(combineLatest(p[0], p[1], p[2], p[3], p[4]).map { [$0.0, $0.1, $0.2, $0.3, $0.4] })
    all.append(combineLatest(p[0], p[1], p[2], p[3], p[4]) { [$0, $1, $2, $3, $4] })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5]).map {
        [$0.0, $0.1, $0.2, $0.3, $0.4, $0.5]
      })
    all.append(combineLatest(p[0], p[1], p[2], p[3], p[4], p[5]) { [$0, $1, $2, $3, $4, $5] })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6]).map {
        [$0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6]
      })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6]) { [$0, $1, $2, $3, $4, $5, $6] })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]).map {
        [$0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7]
      })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]) {
        [$0, $1, $2, $3, $4, $5, $6, $7]
      })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]).map {
        [$0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7, $0.8]
      })
    all.append(
      combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]) {
        [$0, $1, $2, $3, $4, $5, $6, $7, $8]
      })
    return all
  }

  @Test func `R28 combineLatest of 1 to 9 inputs emits the current values, then each change`() {
    let recorders = combinations.map { Recorder($0) }

    for (index, input) in inputs.enumerated() {
      input.value += 100
      input.modify { _ in }
      input.value = index + 100
    }

    for (index, recorder) in recorders.enumerated() {
      let count = index / 2 + 1
      let expected = (0...count).map { changed in
        (0..<count).map { $0 < changed ? $0 + 100 : $0 }
      }
      #expect(recorder.updates == expected, "of \(count)")
    }
  }

  @Test func `current returns the values of 1 to 9 inputs`() {
    for (index, combination) in combinations.enumerated() {
      #expect(combination.current() == Array(0...(index / 2)))
    }
  }

  @Test func `R13 R26 combineLatest finishes with the last of 1 to 9 inputs`() {
    let ends = Shared(0)
    let bag = SubscriptionBag()
    for combination in combinations {
      combination.subscribe({ _ in }, onEnd: { ends.increment() }).store(in: bag)
    }

    for (index, input) in inputs.enumerated() {
      #expect(ends.value == 2 * index)
      input.end()
    }

    #expect(ends.value == 18)
  }
}
