import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An input that switches to a publisher of a source that the combination already observes.
extension GlitchFreedomTests {
  @Test func `R30 an input that switches to the same source becomes glitch-free`() {
    let selected = PublishedProperty(PublishedValue.constant(-1))
    let pairs = Recorder(
      combineLatest(number.publisher, selected.publisher.switchToLatest()) { [$0, $1] })
    number.value = 1
    selected.value = number.publisher.map { $0 * 10 }
    number.value = 2
    selected.value = number.publisher.map { $0 * 100 }
    number.value = 3
    #expect(
      pairs.updates == [[0, -1], [1, -1], [1, 10], [2, 20], [2, 200], [3, 300]])
  }

  @Test func `R30 an input that switches inside a turn joins that turn`() {
    let halves = number.publisher.map { $0 / 2 }.flatMapLatest { [number] half in
      number.publisher.map { [half, $0] }
    }
    let recorder = Recorder(
      combineLatest(number.publisher, halves, number.publisher.map { -$0 }) { [$0, $2] + $1 })
    for next in 1...5 { number.value = next }
    #expect(recorder.updates == (0...5).map { [$0, -$0, $0 / 2, $0] })
  }

  @Test func `R30 an input that switches does not split a queued update`() {
    let selected = PublishedProperty(number.publisher)
    let switching = number.publisher.subscribe { [number, other] in
      if $0 != 1 { return }
      number.value = 2
      selected.value = other.publisher
    }
    let recorder = Recorder(
      combineLatest(
        number.publisher, number.publisher.map { -$0 }, selected.publisher.switchToLatest()
      ) { [$0, $1, $2] })
    number.value = 1
    number.value = 3
    withExtendedLifetime(switching) {}
    #expect(recorder.updates == [[0, 0, 0], [1, -1, 0], [2, -2, 0], [3, -3, 0]])
  }

  @Test func `R30 an input inside a shared combination may switch`() {
    let selected = PublishedProperty(PublishedValue.constant(-1))
    let shared = selected.publisher.switchToLatest().share()
    let inner = combineLatest(shared, other.publisher) { [$0, $1] }
    let recorder = Recorder(combineLatest(number.publisher, inner) { [$0] + $1 })
    selected.value = number.publisher.map { $0 * 10 }
    for next in 1...2 { number.value = next }
    #expect(
      recorder.updates == [[0, -1, 0], [0, 0, 0], [1, 10, 0], [2, 20, 0]])
  }

  @Test func `R30 an inner combination that moves back moves the outer combination`() {
    let selected = PublishedProperty(PublishedValue.constant(-1))
    let inner = combineLatest(number.publisher, selected.publisher.switchToLatest()) { [$0, $1] }
    let recorder = Recorder(combineLatest(inner, number.publisher.map { -$0 }) { $0 + [$1] })
    selected.value = number.publisher.map { $0 * 10 }
    number.value = 1
    #expect(recorder.updates == [[0, -1, 0], [0, 0, 0], [1, 10, -1]])
  }

  @Test func `R8 R30 switching removes the old subscription from the source`() {
    let selected = PublishedProperty(0)
    let switching = selected.publisher.flatMapLatest { [number] factor in
      number.publisher.map { $0 * factor }
    }
    let recorder = Recorder(combineLatest(number.publisher, switching) { [$0, $1] })
    number.value = 1
    let count = number.subscriberCount
    for factor in 1...100 { selected.value = factor }
    #expect(number.subscriberCount == count)
    let inTurn = number.publisher.subscribe { [selected] _ in
      for factor in 1...100 { selected.value = -factor }
    }
    number.value = 2
    number.value = 3
    inTurn.invalidate()
    #expect(number.subscriberCount == count)
    #expect(recorder.updates.last == [3, -300])
    recorder.invalidate()
    #expect(number.subscriberCount == 0)
  }
}
