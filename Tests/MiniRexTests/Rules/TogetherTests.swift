import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Writes in `together` are emitted together.
@Suite(.light) struct TogetherTests {
  let width = PublishedProperty(2)
  let height = PublishedProperty(3)

  private var area: PublishedValue<Int> {
    .computed { [width, height] read in read(width) * read(height) }
  }

  @Test func `R41 writes in together are emitted together`() {
    let combined = Recorder(combineLatest(width.publisher, height.publisher) { [$0, $1] })
    let computed = Recorder(area)
    let own = Recorder(height.publisher)
    let result = together { set in
      set(width, to: 4)
      set(height, to: 5)
      return [width.value, height.value]
    }
    #expect(result == [2, 3])
    #expect(combined.updates == [[2, 3], [4, 5]])
    #expect(computed.updates == [6, 20])
    #expect(own.updates == [3, 5])
  }

  @Test func `R41 nested combinations emit once`() {
    let sum = combineLatest(width.publisher, height.publisher) { $0 + $1 }
    let area = area
    let outer = Recorder(combineLatest(width.publisher, sum, area) { [$0, $1, $2] })
    let doubled = combineLatest(sum, height.publisher) { [$0, $1] }
    let outermost = Recorder(combineLatest(doubled, width.publisher, sum) { $0 + [$1, $2] })
    together { set in
      set(height, to: 7)
      set(width, to: 6)
    }
    #expect(outer.updates == [[2, 5, 6], [6, 13, 42]])
    #expect(outermost.updates == [[5, 3, 2, 5], [13, 7, 6, 13]])
  }

  @Test func `R41 a closure that throws writes nothing`() {
    let recorder = Recorder(area)
    #expect(throws: CancellationError.self) {
      try together { set throws(CancellationError) in
        set(width, to: 9)
        throw CancellationError()
      }
    }
    #expect(width.value == 2)
    #expect(recorder.updates == [6])
  }

  @Test func `R41 the last write to a property wins, and duplicates are skipped`() {
    let recorder = Recorder(width.publisher)
    let other = Recorder(height.publisher)
    together { set in
      set(width, to: 8)
      set(height, to: 3)
      set(width, to: 9)
    }
    #expect(recorder.updates == [2, 9])
    #expect(other.updates == [3])
    together { _ in }
  }

  @Test func `R41 R3 a callback may write, and call together`() {
    let area = Recorder(area) { [width, height] in
      if $0 == 20 {
        together { set in
          set(width, to: 10)
          set(height, to: 10)
        }
      }
    }
    let widths = Recorder(width.publisher) { [height] in if $0 == 4 { height.value = 6 } }
    together { set in
      set(width, to: 4)
      set(height, to: 5)
    }
    #expect(width.value == 4)
    #expect(height.value == 6)
    #expect(area.updates == [6, 24])
    #expect(widths.updates == [2, 4])
  }

  @Test
  func `R28 R41 a subscriber that joins in a callback receives its first value inside subscribe`() {
    let bag = SubscriptionBag()
    let log = Shared([String]())
    let combined = combineLatest(width.publisher, height.publisher) { "\($0) × \($1)" }
    let area = area
    width.publisher.subscribe {
      if $0 != 4 { return }
      combined.subscribe { log.append($0) }.store(in: bag)
      area.subscribe { log.append("\($0)") }.store(in: bag)
      log.append("joined")
    }.store(in: bag)
    together { set in
      set(width, to: 4)
      set(height, to: 5)
    }
    #expect(log.value == ["4 × 5", "20", "joined"])
    height.value = 6
    #expect(log.value.suffix(2).sorted() == ["24", "4 × 6"])
    bag.invalidate()
  }

  @Test func `R41 a nested call traps`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      together { _ in together { _ in } }
    }
    #expect(advice(result).contains("'together' was called inside"))
  }

  @Test func `R41 R2 concurrent writes of the same properties stay in pairs`() async {
    let x = PublishedProperty(0)
    let y = PublishedProperty(0)
    let mixed = Shared(0)
    let values = Shared([Int]())
    let pair = PublishedValue.computed { read in [read(x), read(y)] }
    let both = combineLatest(x.publisher, y.publisher) { [$0, $1] }
    let subscriptions = [pair, both].map { publisher in
      publisher.subscribe { pair in if pair[0] != pair[1] { mixed.increment() } }
    }
    let last = x.publisher.subscribe { values.append($0) }
    onThreads(3) { index in
      for round in 0..<scaled(5_000) {
        let next = round * 3 + index + 1
        together { set in
          if index == 1 {
            set(y, to: next)
            set(x, to: next)
          } else {
            set(x, to: next)
            set(y, to: next)
          }
        }
      }
    }
    await until { values.value.last == x.value }
    #expect(mixed.value == 0)
    #expect(x.value == y.value)
    withExtendedLifetime((subscriptions, last)) {}
  }
}
