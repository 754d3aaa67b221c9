import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

// R14–R17, R22, R23, R28, and R29: values

/// Creates the property in unconstrained generic code.
private func makeProperty<Value: Sendable>(_ value: Value) -> PublishedProperty<Value> {
  PublishedProperty(value)
}

private func makeDeduplicated<Value: Sendable>(
  _ publisher: Broadcaster<Value>
) -> Broadcaster<Value> {
  publisher.removeDuplicates()
}

private protocol Named: AnyObject, Sendable {}

extension Thing: Named {}

extension ContractTests {
  @Test func `R14 no update is lost or repeated between first value and changes`() {
    let property = PublishedProperty(0)
    onThreads(2) { index in
      if index == 0 {
        for number in 1...scaled(20_000) { property.value = number }
      } else {
        for _ in 0..<scaled(2_000) {
          let last = Shared<Int?>(nil)
          let subscription = property.publisher.subscribe { number in
            if let last = last.value, number != last + 1 { Issue.record("\(number) after \(last)") }
            last.value = number
          }
          subscription.invalidate()
        }
      }
    }
  }

  @Test func `R15 in a callback, value is the delivered value or newer`() {
    let property = PublishedProperty(0)
    let stale = Shared(0)
    let subscription = property.publisher.subscribe { number in
      if property.value < number { stale.increment() }
    }

    for number in 1...10 { property.value = number }

    #expect(stale.value == 0)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R16 at rest, every subscriber's last update equals the value`() {
    let property = PublishedProperty(0)
    let recorder = Recorder(property.publisher)
    let chain = Recorder(property.publisher) { number in
      if number == 49 { property.value = 100 }
      if number == 100 { property.value = 101 }
    }
    onThreads(2) { _ in for number in 2..<50 { property.value = number } }

    #expect(recorder.updates.last == property.value)
    #expect(chain.updates.last == property.value)
  }

  @Test func `R17 Equatable values publish on change, and value is set in any case`() {
    let property = PublishedProperty(1.0)
    let recorder = Recorder(property.publisher)

    property.value = 1
    property.value = 2
    property.value = .nan
    property.value = .nan

    #expect(recorder.updates.count == 4)
    let nosy = PublishedProperty(Nosy(1))
    let second = Nosy(1)
    let seen = Recorder(nosy.publisher)
    nosy.value = second
    #expect(seen.updates.count == 1)
    #expect(nosy.value === second)
  }

  @Test
  func `R17 a non-Equatable object is published when its identity changes`() {
    let one = Thing()
    let two = Thing()
    let plain = PublishedProperty(one)
    let optional = PublishedProperty<Thing?>(nil)
    let nested = PublishedProperty<Thing??>(nil)
    let existential = PublishedProperty<any Named>(one)
    let optionalExistential = PublishedProperty<(any Named)?>(one)
    let recorders: (Recorder<Thing>, Recorder<Thing?>, Recorder<Thing??>, Recorder<any Named>) = (
      Recorder(plain.publisher), Recorder(optional.publisher), Recorder(nested.publisher),
      Recorder(existential.publisher)
    )
    let last = Recorder(optionalExistential.publisher)

    for thing in [one, one, two, two] {
      plain.value = thing
      optional.value = thing
      nested.value = thing
      existential.value = thing
      optionalExistential.value = thing
    }
    optional.value = nil
    optional.value = nil

    #expect(recorders.0.updates.count == 2)
    #expect(recorders.1.updates.count == 4)
    #expect(recorders.2.updates.count == 3)
    #expect(recorders.3.updates.count == 2)
    #expect(last.updates.count == 2)
  }

  @Test func `R17 any other type is always published`() {
    struct Plain: Sendable { var number = 0 }
    let property = PublishedProperty(Plain())
    let recorder = Recorder(property.publisher)
    let optional = PublishedProperty<Plain?>(nil)
    let optionals = Recorder(optional.publisher)

    property.value = Plain()
    optional.value = Plain()
    optional.value = Plain()
    optional.value = nil
    optional.value = nil

    #expect(recorder.updates.count == 2)
    #expect(optionals.updates.count == 4)
  }

  @Test func `R17 generic code selects the same comparison`() {
    let one = Thing()
    let number = makeProperty(1)
    let optional = makeProperty(Optional(1))
    let thing = makeProperty(Optional(one))
    let numbers = Recorder(number.publisher)
    let optionals = Recorder(optional.publisher)
    let things = Recorder(thing.publisher)
    let source = BroadcastSource<Int>()
    let deduplicated = Recorder(makeDeduplicated(source.publisher))

    for value in [1, 1, 2] {
      number.value = value
      optional.value = value
      thing.value = one
      source.broadcast(value)
    }

    #expect(numbers.updates == [1, 2])
    #expect(optionals.updates == [1, 2])
    #expect(things.updates.count == 1)
    #expect(deduplicated.updates == [1, 2])
  }

  @Test func `R17 an operator compares with the last update of that subscription`() {
    let source = BroadcastSource<Int>()
    let publisher = source.publisher.removeDuplicates()
    let first = Recorder(publisher)
    source.broadcast(1)
    let second = Recorder(publisher)

    source.broadcast(1)
    source.broadcast(2)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
    let property = PublishedProperty(1)
    let odd = Recorder(property.publisher.map { $0 % 2 })
    for number in [3, 4, 6, 5] { property.value = number }
    #expect(odd.updates == [1, 0, 1])
  }

  @Test func `R17 combineLatest compares element by element`() {
    struct Plain: Sendable {}
    let number = PublishedProperty(1)
    let thing = PublishedProperty(Thing())
    let plain = PublishedProperty(Plain())
    let equal = Recorder(combineLatest(number.publisher, thing.publisher))
    let unequal = Recorder(combineLatest(number.publisher, plain.publisher))

    number.modify { _ in }
    thing.modify { _ in }
    plain.modify { _ in }

    #expect(equal.updates.count == 1)
    // An element without `==` counts as changed only when it is published itself.
    #expect(unequal.updates.count == 2)
  }

  @Test func `R17 an == isolated to a global actor is never called`() async {
    struct Reading: @MainActor Equatable, Sendable {
      let number: Int

      @MainActor static func == (one: Reading, other: Reading) -> Bool {
        MainActor.preconditionIsolated()
        return one.number == other.number
      }
    }
    await #expect(processExitsWith: .success) {
      let property = await MainActor.run { PublishedProperty(Reading(number: 1)) }
      let recorder = Recorder(property.publisher)
      let optional = await MainActor.run { PublishedProperty<Reading?>(nil) }
      let optionals = Recorder(optional.publisher)

      onThread {
        property.value = Reading(number: 1)
        for _ in 0..<2 { optional.value = Reading(number: 1) }
      }

      precondition(recorder.updates.count == 2)
      precondition(optionals.updates.count == 3)
    }
  }

  @Test func `R22 every buffer has a stated limit or a readable depth`() {
    let source = BroadcastSource<Int>()
    let depths = Shared<[Int]>([])
    let subscription = source.publisher.subscribe { number in
      depths.change { $0.append(source.pendingUpdates) }
      if number == 0 { for next in 1...3 { source.broadcast(next) } }
    }

    source.broadcast(0)

    #expect(depths.value == [0, 2, 1, 0])
    withExtendedLifetime(subscription) {}
  }

  @Test func `R22 a bag and a source retain nothing of ended subscriptions`() {
    let source = BroadcastSource<Int>()
    let bag = SubscriptionBag()
    weak var last: Subscription?

    for _ in 0..<1_000 {
      let once = source.publisher.prefix(1).subscribe { _ in }
      last = once
      once.store(in: bag)
      source.broadcast(1)
    }

    #expect(source.subscriberCount == 0)
    #expect(bag.count == 0)
    for _ in 0..<1_000 { source.publisher.subscribe { _ in }.store(in: bag) }
    #expect(last == nil)
  }

  @Test func `R28 operators that preserve the kind preserve its guarantees`() {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let changes = BroadcastSource<Int>()
    let kept: [(String, PublishedValue<Int>, [Int])] = [
      ("map", one.publisher.map { $0 / 2 }, [0, 1]),
      ("removeDuplicates", one.publisher.removeDuplicates(), [1, 2, 3]),
      ("removeDuplicates by", one.publisher.removeDuplicates { $0 / 2 == $1 / 2 }, [1, 2]),
      ("combineLatest", combineLatest(one.publisher, two.publisher) { $0 + $1 }, [2, 3, 4]),
      (
        "init(initial:changes:)", PublishedValue(initial: { 0 }, changes: changes.publisher),
        [0, 7]
      ),
      ("publishedValue", changes.publisher.publishedValue(initial: 0), [0, 7]),
      ("constant", .constant(5), [5]),
    ]
    for (name, value, expected) in kept {
      #expect(value.current() == expected.first, "\(name)")
    }
    let recorders = kept.map { Recorder($0.1) }
    for (recorder, (name, _, expected)) in zip(recorders, kept) {
      #expect(recorder.updates == Array(expected.prefix(1)), "\(name)")
    }

    for number in [2, 2, 3] { one.value = number }
    for _ in 0..<2 { changes.broadcast(7) }

    for (recorder, (name, _, expected)) in zip(recorders, kept) {
      #expect(recorder.updates == expected, "\(name)")
    }
  }

  @Test func `R28 combineLatest without inputs emits once, then finishes`() {
    let none: PublishedValue<()> = combineLatest()

    let recorder = Recorder(none)

    #expect(recorder.updates.count == 1)
    #expect(recorder.hasEnded)
    #expect(none.current() != nil)
  }

  @Test func `R28 a change during the read of initial is not lost`() {
    let changes = BroadcastSource<Int>()
    let value = PublishedValue(
      initial: {
        changes.broadcast(1)
        changes.broadcast(2)
        return 2
      }, changes: changes.publisher)

    let recorder = Recorder(value)

    // The values repeat, and go back once.
    #expect(recorder.updates == [2, 1, 2])
  }

  @Test
  func
    `R29 its publisher and its subscriptions retain derived state`()
  {
    let source = BroadcastSource<Int>()
    var value: PublishedValue<Int>? = source.publisher.publishedValue(initial: 0)
    source.broadcast(1)
    var recorder: Recorder<Int>? = value.map { Recorder($0) }

    value = nil
    source.broadcast(2)
    #expect(recorder?.updates == [1, 2])
    #expect(source.subscriberCount == 1)
    recorder = nil

    #expect(source.subscriberCount == 0)
    withExtendedLifetime(value) {}
  }
}
