import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An operator with two inputs.
struct TwoInputOperator: Sendable, CustomTestStringConvertible {
  let name: String
  /// Emits pairs of an update of each input, with 0 for an input that the operator does not emit.
  let apply: @Sendable (PublishedValue<Int>, PublishedValue<Int>) -> Broadcaster<[Int]>

  var testDescription: String { name }

  static let all: [TwoInputOperator] = [
    TwoInputOperator(name: "merge") { one, two in
      merge(one.map { [$0, 0] }, two.map { [0, $0] })
    },
    TwoInputOperator(name: "combineLatest") { combineLatest($0, $1) { [$0, $1] }.broadcaster },
    TwoInputOperator(name: "withLatest") { one, two in
      one.withLatest(from: two).map { [$0, $1] }
    },
    TwoInputOperator(name: "switchToLatest") { one, two in
      one.flatMapLatest { one in two.map { two in [one, two] } }.broadcaster
    },
    TwoInputOperator(name: "switchToLatest of broadcasters") { one, two in
      one.broadcaster.flatMapLatest { one in two.map { two in [one, two] } }
    },
    TwoInputOperator(name: "share of combineLatest") { one, two in
      combineLatest(one.share(), two.share()) { [$0, $1] }.share().broadcaster
    },
  ]
}

@Suite(.light) struct SeveralInputsTests {
  @Test func `R22 pendingUpdates counts the queue of an operator with several inputs`() {
    let (one, two, clock) = (BroadcastSource<Int>(), BroadcastSource<Int>(), ManualClock())
    let operators: [Broadcaster<Int>] = [
      merge(one.publisher, two.publisher),
      one.publisher.flatMapLatest { _ in two.publisher },
      two.publisher.delay(for: .seconds(1), clock: clock),
    ]
    for (index, publisher) in operators.enumerated() {
      let subscription = Shared<Subscription?>(nil)
      let waiting = Shared(0)
      subscription.value = publisher.subscribe { [one, two] number in
        // During the delivery, the other input emits, or the clock advances.
        if index == 1 { one.broadcast(number + 1) } else { two.broadcast(number + 1) }
        waiting.value = max(waiting.value, subscription.value?.pendingUpdates ?? 0)
        if number > 2 { subscription.value?.invalidate() }
      }

      one.broadcast(0)
      two.broadcast(1)
      clock.advance(by: .seconds(3))

      #expect(waiting.value == 1, "operator \(index)")
    }
  }

  @Test(arguments: TwoInputOperator.all)
  func `R1 R2 two inputs changed from two threads deliver serially and in order`(
    subject: TwoInputOperator
  ) async {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let inside = Shared(0)
    let overlaps = Shared(0)
    let recorder = Recorder(subject.apply(one.publisher, two.publisher)) { _ in
      if inside.increment() != 1 { overlaps.increment() }
      inside.increment(by: -1)
    }
    let count = scaled(2_000)

    onThreads(2) { thread in
      for number in 2...max(2, count) { (thread == 0 ? one : two).value = number }
    }
    await until { one.pendingUpdates == 0 && two.pendingUpdates == 0 }

    #expect(overlaps.value == 0)
    for side in 0..<2 {
      let own = recorder.updates.map { $0[side] }.filter { $0 > 0 }
      #expect(own == own.sorted())
    }
  }

  @Test(arguments: TwoInputOperator.all)
  func `R3 R10 callbacks that send to the other input neither nest nor deadlock`(
    subject: TwoInputOperator
  ) async {
    await #expect(processExitsWith: .success) { [name = subject.name as String] in
      mustEnd()
      guard let subject = TwoInputOperator.all.first(where: { $0.name == name }) else {
        fatalError()
      }
      let one = PublishedProperty(1)
      let two = PublishedProperty(1)
      let raise: @Sendable (PublishedProperty<Int>, Int) -> Void = { property, number in
        property.modifyIfChanged { value in
          defer { value = max(value, number) }
          return value < number
        }
      }
      let recorders = (0..<2).map { _ in
        let depth = Shared(0)
        return Recorder(subject.apply(one.publisher, two.publisher)) { pair in
          precondition(depth.increment() == 1)
          raise(two, pair[0])
          raise(one, pair[1])
          depth.increment(by: -1)
        }
      }
      onThreads(2) { thread in
        for number in 1...scaled(1_000) { raise(thread == 0 ? one : two, number) }
      }
      withExtendedLifetime(recorders) {}
    }
  }

  @Test(arguments: TwoInputOperator.all)
  func `R6 R12 a callback that cancels its subscription unsubscribes from both inputs`(
    subject: TwoInputOperator
  ) {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = subject.apply(one.publisher, two.publisher).subscribe { pair in
      if pair[0] < 2 { return }
      calls.increment()
      two.value = 2
      subscription.value?.invalidate()
    }
    one.value = 2
    #expect(calls.value == 1)
    #expect(one.subscriberCount == 0 && two.subscriberCount == 0)
  }

  @Test(arguments: TwoInputOperator.all)
  func `R26 inputs that end on two threads finish the operator once`(subject: TwoInputOperator) {
    for _ in 0..<scaled(300) {
      let one = PublishedProperty(1)
      let two = PublishedProperty(1)
      let ends = Shared(0)
      let subscription = subject.apply(one.publisher, two.publisher).subscribe {
        _ in
      } onEnd: {
        ends.increment()
      }
      onThreads(2) { thread in (thread == 0 ? one : two).end() }
      #expect(ends.value == 1)
      #expect(!subscription.isSubscribed)
    }
  }
}
