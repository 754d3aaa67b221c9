import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Computed values find their dependencies by reading them.
@Suite(.light) struct ComputedTests {
  let a = PublishedProperty(1)
  let b = PublishedProperty(2)
  let runs = Shared(0)

  /// The sum of both properties, which counts its runs.
  private var sum: PublishedValue<Int> {
    .computed { [a, b, runs] read in
      runs.increment()
      return read(a) + read(b)
    }
  }

  @Test func `R33 a computed value is lazy`() {
    let sum = sum
    #expect(runs.value == 0)
    a.value = 5
    #expect(runs.value == 0)
    #expect(sum.current() == 7)
    #expect(runs.value == 1)
    let recorder = Recorder(sum)
    #expect(recorder.updates == [7])
    #expect(runs.value == 1)
  }

  @Test func `R34 current recomputes only after a change of a dependency`() {
    let sum = sum
    for _ in 0..<3 { #expect(sum.current() == 3) }
    #expect(runs.value == 1)
    a.value = 1
    #expect(sum.current() == 3)
    #expect(runs.value == 1)
    a.value = 10
    for _ in 0..<3 { #expect(sum.current() == 12) }
    #expect(runs.value == 2)
    PublishedProperty(0).value = 4
    #expect(sum.current() == 12)
    #expect(runs.value == 2)
  }

  @Test func `R34 a mutation in place is a change of an object`() {
    final class Counter: Sendable {
      let count = Shared(0)
    }
    let counter = PublishedProperty(Counter())
    let count = PublishedValue.computed { read in read(counter).count.value }
    #expect(count.current() == 0)
    counter.modify { $0.count.value = 1 }
    #expect(count.current() == 1)
    counter.modifyIfChanged { counter in
      counter.count.value = 2
      return false
    }
    #expect(count.current() == 1)
  }

  @Test func `R34 an equal result of an operator or a computed value is no change`() {
    let tens = a.publisher.map { $0 / 10 }
    let isLarge = PublishedValue.computed { [a] read in read(a) > 100 }
    let label = PublishedValue.computed { [runs] read in
      runs.increment()
      return "\(read(tens)) \(read(isLarge))"
    }
    let recorder = Recorder(label)
    for value in [2, 3, 9] { a.value = value }
    #expect(runs.value == 1)
    for value in [11, 12, 120, 121] { a.value = value }
    #expect(runs.value == 3)
    #expect(recorder.updates == ["0 false", "1 false", "12 true"])
    #expect(label.current() == "12 true")
  }

  @Test func `R35 dependencies are those of the last run`() {
    let flag = PublishedProperty(true)
    let value = PublishedValue.computed { [a, b, runs] read in
      runs.increment()
      return read(flag) ? read(a) : read(b)
    }
    let recorder = Recorder(value)
    #expect([a.subscriberCount, b.subscriberCount] == [1, 0])
    b.value = 20
    #expect(runs.value == 1)
    flag.value = false
    #expect([a.subscriberCount, b.subscriberCount] == [0, 1])
    a.value = 10
    #expect(runs.value == 2)
    b.value = 21
    #expect(recorder.updates == [1, 20, 21])
    recorder.invalidate()
    #expect([flag].map(\.subscriberCount) == [0])
    #expect([a.subscriberCount, b.subscriberCount] == [0, 0])
  }

  @Test func `R35 a dependency of an unchanged computed value is followed`() {
    let flag = PublishedProperty(true)
    let inner = PublishedValue.computed { [a, b] read in read(flag) ? read(a) : read(b) }
    let outer = PublishedValue.computed { read in read(inner) * 10 }
    let recorder = Recorder(outer)
    b.value = 1
    flag.value = false  // `inner` is still 1.
    b.value = 7
    #expect(recorder.updates == [10, 70])
    #expect(a.subscriberCount == 0)
  }

  @Test func `R36 one change recomputes once`() {
    let left = PublishedValue.computed { [a] read in read(a) * 2 }
    let right = PublishedValue.computed { [a] read in read(a) * 3 }
    let bottom = PublishedValue.computed { [a, runs] read in
      runs.increment()
      return [read(left), read(right), read(a)]
    }
    let recorder = Recorder(bottom)
    for value in 2...4 { a.value = value }
    #expect(recorder.updates == (1...4).map { [$0 * 2, $0 * 3, $0] })
    #expect(runs.value == 4)
  }

  @Test func `R36 an equal result is not emitted`() {
    let parity = PublishedValue.computed { [a] read in read(a) % 2 }
    let recorder = Recorder(parity)
    for value in [3, 5, 6, 8, 9] { a.value = value }
    #expect(recorder.updates == [1, 0, 1])
  }

  @Test func `R36 a further subscriber first receives the last update of the other subscribers`() {
    let double = PublishedValue.computed { [a] read in read(a) * 2 }
    let late = Shared<Recorder<Int>?>(nil)
    let early = a.publisher.subscribe { value in
      if value == 2 { late.value = Recorder(double) }
    }
    // It follows `a` behind the callback.
    let other = Recorder(double)
    a.value = 2
    #expect(late.value?.updates == [2, 4])
    #expect(other.updates == [2, 4])
    withExtendedLifetime(early) {}
  }

  @Test func `R36 R30 a combination of a property and its computed value is glitch-free`() {
    let double = PublishedValue.computed { [a] read in read(a) * 2 }
    let first = Recorder(combineLatest(a.publisher, double) { [$0, $1] })
    let last = Recorder(combineLatest(double, a.publisher) { [$0, $1] })
    for value in 2...3 { a.value = value }
    #expect(first.updates == [[1, 2], [2, 4], [3, 6]])
    #expect(last.updates == [[2, 1], [4, 2], [6, 3]])
  }

  @Test func `R36 R30 a combination follows a computed value that switches its source`() {
    let flag = PublishedProperty(false)
    let chosen = PublishedValue.computed { [a, b] read in read(flag) ? read(a) : read(b) }
    let pairs = Recorder(combineLatest(a.publisher, chosen) { [$0, $1] })
    flag.value = true
    a.value = 5
    #expect(pairs.updates == [[1, 2], [1, 1], [5, 5]])
  }

  @Test func `R36 each turn emits its own value, even after a re-entrant send`() {
    let forward = Recorder(a.publisher) { [a] in if $0 < 4 { a.value = $0 + 1 } }
    let double = PublishedValue.computed { [a, runs] read in
      runs.increment()
      return read(a) * 2
    }
    #expect(forward.updates == [1, 2, 3, 4])
    let again = Recorder(a.publisher) { [a] in if $0 > 10, $0 < 13 { a.value = $0 + 1 } }
    let doubles = Recorder(double)
    let pairs = Recorder(combineLatest(double, a.publisher) { [$0, $1] })
    a.value = 11
    #expect(doubles.updates == [8, 22, 24, 26])
    #expect(pairs.updates == [[8, 4], [22, 11], [24, 12], [26, 13]])
    withExtendedLifetime(again) {}
  }

  @Test func `R36 values of operators with state are followed while subscribed`() {
    let shared = a.publisher.map { $0 * 2 }.share()
    let clock = ManualClock()
    let slow = b.publisher.debounce(for: .seconds(1), clock: clock)
    let sum = PublishedValue.computed { [a, runs] read in
      runs.increment()
      return [read(a), read(shared), read(slow)]
    }
    #expect(sum.current() == [1, 2, 2])
    let recorder = Recorder(sum)
    a.value = 2
    b.value = 3
    #expect(recorder.updates == [[1, 2, 2], [2, 4, 2]])
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [[1, 2, 2], [2, 4, 2], [2, 4, 3]])
    #expect(runs.value == 3)
    recorder.invalidate()
    #expect([a.subscriberCount, b.subscriberCount] == [0, 0])
    b.value = 4
    #expect(sum.current() == [2, 4, 4])
  }

  @Test func `a computed value that reads nothing prints advice once in a debug build`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      mustEnd()
      let price = PublishedProperty(2)
      let double = PublishedValue.computed(name: "double") { _ in price.value * 2 }
      let subscription = double.subscribe { _ in }
      for _ in 1...3 { _ = double.current() }
      let triple = PublishedValue.computed(name: "triple") { read in read(price) * 3 }
      _ = triple.current()
      withExtendedLifetime(subscription) {}
    }
    let printed = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let lines = printed.split(separator: "\n").filter { $0.contains("has read nothing") }
    #if DEBUG
    #expect(lines.count == 1 && lines.first?.contains("'double'") == true)
    #else
    #expect(lines.isEmpty)
    #endif
  }

  @Test func `R38 the closure may read, send, and subscribe`() {
    let log = PublishedProperty([Int]())
    let bag = SubscriptionBag()
    let value = PublishedValue.computed { [a, b] read in
      let value = read(a)
      log.modify { $0.append(value) }
      b.publisher.subscribe { _ in }.store(in: bag)
      return value + (b.publisher.current() ?? 0)
    }
    let recorder = Recorder(value)
    a.value = 10
    #expect(recorder.updates == [3, 12])
    #expect(log.value == [1, 10])
    bag.invalidate()
  }

  @Test func `R38 a callback may write a dependency`() {
    let sum = sum
    let recorder = Recorder(sum) { [a] in if $0 < 6 { a.value += 1 } }
    #expect(recorder.updates == [3, 4, 5, 6])
    #expect(runs.value == 4)
  }

  @Test func `R39 a cycle traps with names`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      let cell = Shared<PublishedValue<Int>?>(nil)
      let first = PublishedValue.computed(name: "first") { read in
        cell.value.map { read($0) } ?? 0
      }
      let second = PublishedValue.computed(name: "second") { read in read(first) + 1 }
      cell.value = second
      _ = second.current()
    }
    #expect(advice(result).contains("'second'"))
    #expect(advice(result).contains("'first'"))
    #expect(advice(result).contains("depends on itself"))
  }

  @Test func `R39 a cycle across two threads traps`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      let cell = Shared<PublishedValue<Int>?>(nil)
      let both = Gate()
      let other = Gate()
      // A run that is found again runs once more, to exclude that a change has caused it.
      let runs = [Shared(0), Shared(0)]
      let first = PublishedValue.computed(name: "first") { read in
        if runs[0].increment() == 1 { both.open() }
        other.wait()
        return cell.value.map { read($0) } ?? 0
      }
      let second = PublishedValue.computed(name: "second") { read in
        if runs[1].increment() == 1 { other.open() }
        both.wait()
        return read(first)
      }
      cell.value = second
      onThreads(2) { index in _ = (index == 0 ? first : second).current() }
    }
    #expect(advice(result).contains("depends on itself"))
  }

  @Test func `R39 a value without a current value traps`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      let late = PublishedProperty(1).publisher.delay(for: .seconds(1), clock: ManualClock())
      _ = PublishedValue.computed { read in read(late) }.current()
    }
    #expect(advice(result).contains("publishedValue(initial:)"))
  }

  @Test func `R40 a dependency retains nothing of a computed value without subscribers`() {
    weak var released: Thing?
    do {
      let thing = Thing()
      released = thing
      let value = PublishedValue.computed { [a] read in
        withExtendedLifetime(thing) { read(a) }
      }
      #expect(value.current() == 1)
      Recorder(value).invalidate()
      #expect(a.subscriberCount == 0)
    }
    #expect(released == nil)
  }

  @Test func `R40 a computed value retains its dependencies, but no source`() {
    weak var source: PublishedProperty<Int>?
    var value: PublishedValue<Int>?
    do {
      let property = PublishedProperty(4)
      source = property
      let publisher = property.publisher
      value = .computed { read in read(publisher) }
      #expect(value?.current() == 4)
    }
    #expect(source == nil)
    #expect(value?.current() == 4)
  }

  @Test func `R40 R26 a computed value finishes with its last dependency`() {
    let recorder = Recorder(sum)
    a.end()
    #expect(!recorder.hasEnded)
    b.value = 9
    b.end()
    #expect(recorder.hasEnded)
    #expect(recorder.updates == [3, 10])
    let constant = Recorder(PublishedValue.computed { _ in 1 })
    #expect(constant.updates == [1])
    #expect(constant.hasEnded)
  }
}
