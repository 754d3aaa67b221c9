import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Random graphs of operators without a queue, over three sources.
///
/// Every update carries the numbers of the turns that it derives from.
@Suite(.heavy, .serialized) struct GlitchFreedomStorms {
  @Test func `R16 R30 random combinations never show half a turn and agree at rest`()
    async
  {
    var count = 0
    for seed in 0..<UInt64(scaled(6)) {
      var random = SeededGenerator(seed: seed)
      let sources = (0..<3).map { _ in PublishedProperty(0) }
      let graphs = (0..<6).map { _ in Shown.graph(over: sources, &random) }
      let recorders = graphs.map { Recorder($0) }

      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &* 4 + UInt64(thread))
        for _ in 0..<100 { sources.randomElement(using: &random)?.modify { $0 += 1 } }
      }
      let last = sources.map(\.value)
      await until { recorders.allSatisfy { $0.updates.last?.isOf(last) == true } }

      for (index, recorder) in recorders.enumerated() {
        let mixed = recorder.updates.first { $0.isMixed }
        #expect(mixed == nil, "seed \(seed), graph \(index)")
        count += recorder.updates.count
      }
    }
    print("storm of turns: \(count) updates")
  }

  @Test func `R16 R30 combinations with changing subscribers and inputs agree at rest`() async {
    for seed in 0..<UInt64(scaled(3)) {
      var random = SeededGenerator(seed: seed)
      let sources = (0..<3).map { _ in PublishedProperty(0) }
      let selected = PublishedProperty(0)
      let graphs = (0..<4).map { _ in Shown.graph(over: sources, &random) }
      let switching = graphs.indices.map { index in
        combineLatest(
          graphs[index],
          selected.publisher.flatMapLatest { graphs[($0 + index) % graphs.count] }
        ) { $0.with($1) }
      }
      let recorders = Shared(switching.map { Recorder($0) })

      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &* 4 + UInt64(thread))
        for step in 0..<100 {
          sources.randomElement(using: &random)?.modify { $0 += 1 }
          if thread == 0, step % 5 == 0 { selected.value += 1 }
          if thread == 1, step % 10 == 0 { recorders.append(Recorder(switching[step % 4])) }
          if thread == 2 { withExtendedLifetime(Recorder(switching[step % 4])) {} }
        }
      }
      let all = recorders.value
      let last = sources.map(\.value)
      await until { all.allSatisfy { $0.updates.last?.isOf(last) == true } }

      #expect(all.allSatisfy { $0.updates.last?.isMixed == false }, "seed \(seed)")
      for recorder in all { recorder.invalidate() }
      // A cancellation during a turn takes effect by the end of the turn.
      await until(sources.map(\.subscriberCount)) { $0 == [0, 0, 0] }
    }
  }
}

/// The turn of each source that an update shows.
private struct Shown: Equatable, Sendable {
  /// The turns by source, with `nil` for a source that is not an input.
  var turns: [Int?]
  var isMixed = false

  init(_ turn: Int, of source: Int) {
    turns = [nil, nil, nil]
    turns[source] = turn
  }

  func with(_ other: Shown) -> Shown {
    var both = self
    both.isMixed = isMixed || other.isMixed
    for (index, turn) in other.turns.enumerated() {
      guard let turn else { continue }
      if let own = turns[index], own != turn { both.isMixed = true }
      both.turns[index] = turn
    }
    return both
  }

  func isOf(_ last: [Int]) -> Bool {
    zip(turns, last).allSatisfy { turn, last in turn ?? last == last }
  }

  /// Returns a combination whose inputs each derive from one source.
  static func graph(
    over sources: [PublishedProperty<Int>], _ random: inout SeededGenerator
  ) -> PublishedValue<Shown> {
    func input() -> PublishedValue<Shown> {
      let index = sources.indices.randomElement(using: &random) ?? 0
      return tree(of: sources[index].publisher, index, depth: 3, &random)
    }
    switch Int.random(in: 2...4, using: &random) {
    case 2: return combineLatest(input(), input()) { $0.with($1) }
    case 3: return combineLatest(input(), input(), input()) { $0.with($1).with($2) }
    default:
      return combineLatest(input(), input(), input(), input()) { $0.with($1).with($2).with($3) }
    }
  }

  private static func tree(
    of source: PublishedValue<Int>, _ index: Int, depth: Int, _ random: inout SeededGenerator
  ) -> PublishedValue<Shown> {
    func next() -> PublishedValue<Shown> { tree(of: source, index, depth: depth - 1, &random) }
    switch Int.random(in: depth == 0 ? 0..<1 : 0..<6, using: &random) {
    case 0: return source.map { Shown($0, of: index) }
    case 1: return next().map { $0 }
    case 2: return next().removeDuplicates()
    case 3: return combineLatest(next(), next(), next()) { $0.with($1).with($2) }
    default: return combineLatest(next(), next()) { $0.with($1) }
    }
  }
}
