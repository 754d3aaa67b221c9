import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An operator with two inputs, which delivers of each what it can.
struct TwoInputOperator: Sendable, CustomTestStringConvertible {
  let name: String
  /// Calls with a pair of what came from the first and the second, 0 if it tells nothing of it.
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

@Suite(.timeLimit(.minutes(20))) struct SeveralInputsTests {
  @Test func `R22 what waits for its turn in an operator is told by its token`() {
    let (one, two, clock) = (BroadcastSource<Int>(), BroadcastSource<Int>(), ManualClock())
    let operators: [Broadcaster<Int>] = [
      merge(one.publisher, two.publisher),
      one.publisher.flatMapLatest { _ in two.publisher },
      two.publisher.delay(for: .seconds(1), clock: clock),
    ]
    for (index, publisher) in operators.enumerated() {
      let token = Shared<Subscription?>(nil)
      let waiting = Shared(0)
      token.value = publisher.subscribe { [one, two] number in
        // While it delivers this one, its other input goes on, or the clock.
        if index == 1 { one.broadcast(number + 1) } else { two.broadcast(number + 1) }
        waiting.value = max(waiting.value, token.value?.pendingUpdates ?? 0)
        if number > 2 { token.value?.invalidate() }
      }

      one.broadcast(0)
      two.broadcast(1)
      clock.advance(by: .seconds(3))

      #expect(waiting.value == 1, "operator \(index)")
    }
  }

  @Test(arguments: TwoInputOperator.all)
  func `R1 R2 two threads that update two inputs call one at a time, each in its own order`(
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
    while one.pendingUpdates > 0 || two.pendingUpdates > 0 { await Task.yield() }

    #expect(overlaps.value == 0)
    for side in 0..<2 {
      let own = recorder.updates.map { $0[side] }.filter { $0 > 0 }
      #expect(own == own.sorted())
    }
  }

  @Test(arguments: TwoInputOperator.all)
  func `R3 R10 callbacks that update the other input, on two threads, neither nest nor block`(
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
  func `R6 R12 a callback that ends its token leaves both inputs`(subject: TwoInputOperator) {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let token = Shared<Subscription?>(nil)
    let calls = Shared(0)
    token.value = subject.apply(one.publisher, two.publisher).subscribe { pair in
      if pair[0] < 2 { return }
      calls.increment()
      two.value = 2
      token.value?.invalidate()
    }
    one.value = 2
    #expect(calls.value == 1)
    #expect(one.subscriberCount == 0 && two.subscriberCount == 0)
  }

  @Test(arguments: TwoInputOperator.all)
  func `R26 inputs that end on two threads end it once`(subject: TwoInputOperator) {
    for _ in 0..<scaled(300) {
      let one = PublishedProperty(1)
      let two = PublishedProperty(1)
      let ends = Shared(0)
      let token = subject.apply(one.publisher, two.publisher).subscribe {
        _ in
      } onEnd: {
        ends.increment()
      }
      onThreads(2) { thread in (thread == 0 ? one : two).end() }
      #expect(ends.value == 1)
      #expect(!token.isSubscribed)
    }
  }
}
