import MiniRex
import TestSupport
import Testing

@Suite(.light) struct QueueTests {
  @Test func `a queue returns its elements in order, in random scripts`() {
    for seed in 0..<UInt64(scaled(300)) {
      var random = SeededGenerator(seed: seed)
      var queue = Queue<Int>()
      var model: [Int] = []
      var bias = 5
      for step in 0..<1_000 {
        if step % 100 == 0 { bias = Int.random(in: 2..<9, using: &random) }
        if Int.random(in: 0..<10, using: &random) < bias {
          queue.append(step)
          model.append(step)
        } else {
          let expected = model.isEmpty ? nil : model.removeFirst()
          let taken = queue.popFirst()
          if taken != expected { Issue.record("seed \(seed), step \(step)") }
        }
        let isLike = queue.count == model.count && queue.first == model.first
        if !isLike { Issue.record("seed \(seed), step \(step)") }
      }
    }
  }

  @Test func `a removed element is released`() {
    var queue = Queue<ReleaseProbe>()
    weak var first: ReleaseProbe?
    weak var second: ReleaseProbe?
    do {
      let one = ReleaseProbe()
      let other = ReleaseProbe()
      (first, second) = (one, other)
      queue.append(one)
      queue.append(other)
    }

    _ = queue.popFirst()

    #expect(first == nil)
    #expect(second != nil)
    #expect(queue.count == 1)
  }

  @Test func `the memory of a burst is freed`() throws {
    var queue = Queue<Int>()
    for element in 0..<100_000 { queue.append(element) }
    #expect(try capacity(of: queue) >= 100_000)

    while queue.popFirst() != nil {}

    #expect(try capacity(of: queue) <= 1_024)
  }

  @Test func `the memory of a short queue does not grow`() throws {
    var queue = Queue<Int>()
    for element in 0..<100_000 {
      queue.append(element)
      if element >= 5 { _ = queue.popFirst() }
    }

    #expect(try capacity(of: queue) == 8)
  }

  private func capacity(of queue: Queue<Int>) throws -> Int {
    let ring = Mirror(reflecting: queue).descendant("ring")
    return try #require(ring as? [Int?]).count
  }
}

private final class ReleaseProbe {}
