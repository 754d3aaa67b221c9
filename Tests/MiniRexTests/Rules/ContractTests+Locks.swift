import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

// R9, R10, and R27: locks

/// Every operation that user code may perform on a source from any callback.
private func callBack(into property: PublishedProperty<Nosy>, _ bag: SubscriptionBag) {
  _ = property.value
  property.publisher.subscribe { _ in }.invalidate()
  property.publisher.broadcaster.dropFirst().subscribe { _ in }.store(in: bag)
  _ = property.subscriberCount + property.pendingUpdates
}

extension ContractTests {
  @Test func `R9 callbacks may send, subscribe, cancel, and read`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let bag = SubscriptionBag()
      let other = source.publisher.subscribe { _ in }
      let recorder = Recorder(source.publisher) { number in
        if number > 3 { return }
        source.broadcast(number + 1)
        source.publisher.subscribe { _ in }.store(in: bag)
        source.publisher.subscribe { _ in }.invalidate()
        other.invalidate()
        _ = source.subscriberCount + source.pendingUpdates
        if number == 3 { source.end() }
      }
      source.broadcast(1)
      precondition(recorder.updates == [1, 2, 3, 4])
      precondition(recorder.hasEnded)
    }
  }

  @Test func `R9 a comparison may call back into its source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let property = PublishedProperty(Nosy(0))
      let bag = SubscriptionBag()
      let recorder = Recorder(property.publisher.map { $0 })
      let compare: @Sendable () -> Void = { callBack(into: property, bag) }
      for number in [1, 1, 2, 2] { property.value = Nosy(number, onCompare: compare) }
      precondition(recorder.updates.map(\.number) == [0, 1, 2])
      // The value retains its property, so break the cycle.
      bag.invalidate()
      recorder.invalidate()
      property.value = Nosy(0)
    }
  }

  @Test func `R9 a comparison may set its source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let property = PublishedProperty(Nosy(0))
      let recorder = Recorder(property.publisher)
      let isFirst = Shared(true)
      property.value = Nosy(1) {
        let mustSet = isFirst.change { first in
          defer { first = false }
          return first
        }
        if mustSet { property.value = Nosy(2) }
      }
      property.value = Nosy(3)
      precondition(recorder.updates.map(\.number) == [0, 1, 3, 2])
    }
  }

  @Test func `R9 the deinit of an update may call back into its source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let property = PublishedProperty(Nosy(0))
      let bag = SubscriptionBag()
      let releases = Shared(0)
      let onRelease: @Sendable () -> Void = {
        callBack(into: property, bag)
        releases.increment()
      }
      let subscription = property.publisher.subscribe { value in
        if value.number == 1 {
          property.value = Nosy(2, onRelease: onRelease)
          property.value = Nosy(3, onRelease: onRelease)
          property.modify { $0 = Nosy(4) }
        }
      }
      property.value = Nosy(1, onRelease: onRelease)
      property.value = Nosy(5)
      precondition(releases.value == 3)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R9 the deinit of a capture may call back into its source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let property = PublishedProperty(Nosy(0))
      let bag = SubscriptionBag()
      let releases = Shared(0)
      @Sendable func subscribe() -> Subscription {
        let witness = Witness {
          callBack(into: property, bag)
          source.broadcast(-1)
          source.publisher.subscribe { _ in }.store(in: bag)
          releases.increment()
        }
        return source.publisher.subscribe { _ in witness.touch() }
      }
      // At rest, inside a turn, and by the completion of the source.
      subscribe().invalidate()
      let subscription = Shared<Subscription?>(subscribe())
      let killer = source.publisher.subscribe { _ in subscription.value = nil }
      source.broadcast(1)
      let last = subscribe()
      source.end()
      precondition(releases.value == 3)
      withExtendedLifetime((killer, last)) {}
    }
  }

  @Test func `R9 closures of operators and custom publishers may use their source`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let property = PublishedProperty(1)
      let bag = SubscriptionBag()
      @Sendable func look() {
        _ = property.value
        property.publisher.subscribe { _ in }.store(in: bag)
      }
      let changes = Broadcaster<Int> { receive in
        look()
        let inner = property.publisher.broadcaster.dropFirst().subscribe { number in
          look()
          receive(number)
        }
        return Subscription {
          look()
          inner.invalidate()
        }
      }
      let value = PublishedValue(
        initial: {
          look()
          return property.value
        }, changes: changes)
      let chain =
        value
        .map { number in
          look()
          return number
        }
        .filter { _ in
          look()
          return true
        }
        .compactMap { number -> Int? in
          look()
          return number
        }
        .scan(0) { sum, number in
          look()
          return sum + number
        }
        .removeDuplicates { one, other in
          look()
          return one == other
        }
      let recorder = Recorder(
        combineLatest(value, property.publisher) { one, two in
          look()
          return one + two
        })
      let sums = Recorder(chain)
      property.value = 2
      precondition(sums.updates == [1, 3])
      precondition(recorder.updates.last == 4)
      sums.invalidate()
      recorder.invalidate()
    }
  }

  @Test func `R9 subscriptions, bags, and sources may be deallocated in a callback`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Int>()
      let bag = Shared<SubscriptionBag?>(SubscriptionBag())
      let inner = Shared<PublishedProperty<Int>?>(PublishedProperty(1))
      let innerEnds = Shared(0)
      if let bag = bag.value {
        for _ in 0..<10 { source.publisher.subscribe { _ in }.store(in: bag) }
        inner.value?.publisher.subscribe { _ in
        } onEnd: {
          innerEnds.increment()
        }.store(in: bag)
      }
      let other = inner.value?.publisher.subscribe { _ in
      } onEnd: {
        source.broadcast(2)
        innerEnds.increment()
      }
      let recorder = Recorder(source.publisher) { _ in
        bag.value = nil
        inner.value = nil
      }
      source.broadcast(1)
      precondition(recorder.updates == [1, 2])
      precondition(innerEnds.value == 1)
      precondition(source.subscriberCount == 1)
      withExtendedLifetime(other) {}
    }
  }

  @Test func `R10 sources that forward to each other in a cycle do not deadlock`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let one = BroadcastSource<Int>()
      let two = BroadcastSource<Int>()
      let calls = Shared(0)
      let forward = one.publisher.subscribe { number in
        calls.increment()
        if number > 0 { two.broadcast(number - 1) }
      }
      let back = two.publisher.subscribe { number in
        calls.increment()
        if number > 0 { one.broadcast(number - 1) }
      }
      onThreads(4) { thread in
        for _ in 0..<500 { (thread.isMultiple(of: 2) ? one : two).broadcast(9) }
      }
      // A handover to a Swift task may still be in progress.
      await until { calls.value >= 4 * 500 * 10 }
      precondition(calls.value == 4 * 500 * 10)
      withExtendedLifetime((forward, back)) {}
    }
  }

  @Test func `R10 two properties that set each other from two threads agree at rest`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for round in 0..<200 {
        let one = PublishedProperty(0)
        let two = PublishedProperty(0)
        let forward = one.publisher.subscribe { number in
          if number > two.value { two.value = number }
        }
        let back = two.publisher.subscribe { number in
          if number > one.value { one.value = number }
        }
        onThreads(2) { thread in
          for number in 1...20 { (thread == 0 ? one : two).value = round + number }
        }
        withExtendedLifetime((forward, back)) {}
      }
    }
  }

  @Test func `R27 modify mutates in place and publishes without comparing`() {
    let property = PublishedProperty([1])
    let recorder = Recorder(property.publisher)

    let count = property.modify { array in
      array.append(2)
      return array.count
    }
    property.modify { _ in }
    // Without a warning, though `removeLast` returns something.
    property.modify { $0.removeLast() }

    #expect(count == 2)
    #expect(recorder.updates == [[1], [1, 2], [1, 2], [1]])
  }

  @Test func `R27 modify does not copy a uniquely referenced array`() {
    let property = PublishedProperty(Array(0..<1_000))
    let subscription = property.publisher.subscribe { _ in }
    property.modify { $0.reserveCapacity(10_000) }
    let address = Shared<UInt>(0)
    let moves = Shared(0)

    for number in 0..<1_000 {
      property.modify { array in
        array.append(number)
        let now = unsafe array.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        if address.value != 0, now != address.value { moves.increment() }
        address.value = now
      }
    }

    #expect(moves.value == 0)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R27 the body of modifyIfChanged decides whether to publish`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher)

    property.modifyIfChanged { _ in false }
    property.modifyIfChanged { number in
      number = 2
      return true
    }
    property.modifyIfChanged { number in
      number = 3
      return false
    }

    #expect(recorder.updates == [1, 2])
    #expect(property.value == 3)
  }

  @Test func `R27 changes of a body that throws remain and are published`() {
    struct Stop: Error {}
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher)

    #expect(throws: Stop.self) {
      try property.modify { number throws(Stop) in
        number = 2
        throw Stop()
      }
    }
    #expect(throws: Stop.self) {
      try property.modifyIfChanged { number throws(Stop) in
        number = 3
        throw Stop()
      }
    }

    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `R27 readers, setters, and subscribers wait for modify, delivery does not`() {
    let property = PublishedProperty(0)
    let events = Shared<[String]>([])
    let isDelivering = Gate()
    let mayDeliver = Gate()
    let delivered = Gate()
    let other = property.publisher.subscribe { _ in }
    let recorder = Recorder(property.publisher) { number in
      if number == 1 {
        isDelivering.open()
        mayDeliver.wait()
      } else if number == 2 {
        delivered.open()
      }
    }
    let inBody = Gate()
    onThreads(5) { index in
      switch index {
      case 0:
        property.value = 1
      case 1:
        isDelivering.wait()
        property.value = 2
        property.modify { number in
          inBody.open()
          // The current turn and the queued turn continue while the body runs.
          mayDeliver.open()
          delivered.wait()
          other.invalidate()
          for _ in 0..<50_000 { _ = events.value.count }
          events.change { $0.append("body") }
          number = 3
        }
      case 2:
        inBody.wait()
        let read = property.value
        events.change { $0.append("read \(read >= 3)") }
      case 3:
        inBody.wait()
        property.value = 4
        events.change { $0.append("set") }
      default:
        inBody.wait()
        property.publisher.subscribeOnce { number in
          events.change { $0.append("first \(number >= 3)") }
        }
      }
    }

    #expect(events.value.first == "body")
    #expect(Set(events.value) == ["body", "read true", "set", "first true"])
    #expect(Array(recorder.updates.prefix(4)) == [0, 1, 2, 3])
    #expect(!other.isSubscribed)
  }
}
