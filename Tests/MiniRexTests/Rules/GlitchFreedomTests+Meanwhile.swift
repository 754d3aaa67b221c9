import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Operations between the changes of the first and the last input.
extension GlitchFreedomTests {
  private func triples(
    _ inBetween: @escaping @Sendable (Int) -> Void = { _ in },
    onEach body: @escaping @Sendable ([Int]) -> Void = { _ in }
  ) -> Recorder<[Int]> {
    let tens = number.publisher.map { number in
      inBetween(number)
      return number * 10
    }
    return Recorder(
      combineLatest(number.publisher, tens, other.publisher) { [$0, $1, $2] }, body)
  }

  @Test func `R30 a concurrent change from elsewhere joins the turn`() {
    let before = number.publisher.subscribe { [other] in other.value = $0 }
    let first = triples()
    let second = triples { [other] in other.value = -$0 }
    number.value = 1
    #expect(first.updates == [[0, 0, 0], [1, 10, 1], [1, 10, -1]])
    #expect(second.updates == [[0, 0, 0], [1, 10, -1]])
    withExtendedLifetime(before) {}
  }

  @Test func `R16 R30 a change after the last slot follows the turn`() {
    let recorder = triples()
    let after = number.publisher.subscribe { [other] in other.value = $0 }
    number.value = 1
    #expect(recorder.updates == [[0, 0, 0], [1, 10, 0], [1, 10, 1]])
    withExtendedLifetime(after) {}
  }

  @Test func `R16 R30 the first value of another subscriber delays nothing`() {
    let recorder = triples()
    let another = number.publisher.subscribe { [other] in other.value = $0 + 5 }
    #expect(recorder.updates == [[0, 0, 0], [0, 0, 5]])
    withExtendedLifetime(another) {}
  }

  @Test func `R9 R16 R30 a comparison that changes an input delays nothing`() {
    struct Nosy: Equatable {
      let number: Int
      let onCompare: @Sendable () -> Void
      static func == (one: Nosy, two: Nosy) -> Bool {
        one.onCompare()
        return one.number == two.number
      }
    }
    let isArmed = Shared(false)
    let nosy = PublishedProperty(
      Nosy(number: 1) { [other] in if isArmed.value { other.value += 1 } })
    // The turn of the duplicate is the first turn after the combination subscribed.
    let recorder = Recorder(
      combineLatest(
        nosy.publisher.map(\.number), nosy.publisher.map { $0.number * 10 }, other.publisher
      ) { [$0, $1, $2] })
    isArmed.value = true
    nosy.value = nosy.value
    #expect(recorder.updates == [[1, 10, 0], [1, 10, 1]])
  }

  @Test func `R30 a callback of the combination sends to the source`() {
    let recorder = triples(onEach: { [number] in
      if (1..<3).contains($0[0]) { number.value = $0[0] + 1 }
    })
    number.value = 1
    #expect(recorder.updates == (0...3).map { [$0, $0 * 10, 0] })
  }

  @Test func `R30 a callback that changes another input causes a later update`() {
    let recorder = triples(onEach: { [other] in other.value = $0[0] })
    number.value = 1
    #expect(recorder.updates == [[0, 0, 0], [1, 10, 0], [1, 10, 1]])
  }

  @Test func `R30 a combination created in a callback joins the next turn`() {
    let made = Shared<Recorder<[Int]>?>(nil)
    let making = number.publisher.subscribe { [self, number] in
      if $0 != 1 { return }
      number.value = 2
      made.value = triples()
      number.value = 3
    }
    number.value = 1
    number.value = 4
    #expect(made.value?.updates == (2...4).map { [$0, $0 * 10, 0] })
    withExtendedLifetime(making) {}
  }

  @Test func `R16 R30 a change in the turn that creates the combination is emitted`() {
    let made = Shared<Recorder<[Int]>?>(nil)
    let making = number.publisher.subscribe { [self, other] in
      if $0 != 1 { return }
      made.value = triples()
      other.value = 5
    }
    number.value = 1
    #expect(made.value?.updates == [[1, 10, 0], [1, 10, 5]])
    withExtendedLifetime(making) {}
  }

  @Test func `R6 R30 a callback that cancels the combination unsubscribes it`() {
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = combineLatest(number.publisher, number.publisher.map { -$0 }).subscribe {
      _ in
      calls.increment()
      subscription.value?.invalidate()
    }
    number.value = 1
    number.value = 2
    #expect(calls.value == 2)
    #expect(number.subscriberCount == 0)
  }

  @Test func `R6 R30 a combination canceled by a transform emits nothing`() {
    let subscription = Shared<Subscription?>(nil)
    let pairs = Shared<[[Int]]>([])
    let tens = number.publisher.map { number in
      if number == 1 { subscription.value?.invalidate() }
      return number * 10
    }
    subscription.value = combineLatest(number.publisher, tens) { [$0, $1] }.subscribe {
      pairs.append($0)
    }
    number.value = 1
    #expect(pairs.value == [[0, 0]])
    #expect(number.subscriberCount == 0)
  }

  @Test func `R12 R30 a released combination has no subscription at the source`() {
    var subscription: Subscription? = combineLatest(number.publisher, number.publisher.map { -$0 })
      .subscribe { _ in }
    number.value = 1
    #expect(subscription?.isSubscribed == true)
    subscription = nil
    #expect(number.subscriberCount == 0)
  }
}

/// Cancellation and completion between the changes of two inputs.
extension GlitchFreedomTests {
  @Test func `R13 R26 R30 a source that finishes during a turn delivers its change`() {
    let number = PublishedProperty(0)
    let log = Shared<[String]>([])
    let tens = number.publisher.map { [weak number] value in
      if value == 1 { number?.end() }
      return value * 10
    }
    let subscription = combineLatest(number.publisher, tens) { "\($0) \($1)" }.subscribe {
      log.append($0)
    } onEnd: {
      log.append("end")
    }
    number.value = 1
    #expect(log.value == ["0 0", "1 10", "end"])
    #expect(!subscription.isSubscribed && number.subscriberCount == 0)
  }

  @Test func `R26 R30 an input that finishes during a turn delivers its last change`() {
    let firstTwo = number.publisher.broadcaster.prefix(2).publishedValue(initial: -1)
    let recorder = Recorder(
      combineLatest(firstTwo, number.publisher, number.publisher.map { $0 * 10 }) { [$0, $1, $2] })
    for next in 1...2 { number.value = next }
    #expect(recorder.updates == [[0, 0, 0], [1, 1, 10], [1, 2, 20]])
    #expect(!recorder.hasEnded)
    number.end()
    #expect(recorder.hasEnded)
  }

  @Test func `R26 R30 changes precede completion when all inputs finish in one turn`() {
    let source = BroadcastSource<Int>()
    // A shared publisher finishes its subscribers in its own turn, nested in the source's turn.
    let shared = source.publisher.share()
    let once = shared.prefix(1).publishedValue(initial: 0)
    let keepsRunning = Recorder(shared)
    let log = Shared<[String]>([])
    let subscription = combineLatest(once, once.map { $0 * 10 }) { "\($0) \($1)" }.subscribe {
      log.append($0)
    } onEnd: {
      log.append("end")
    }
    source.broadcast(1)
    #expect(log.value == ["0 0", "1 10", "end"])
    keepsRunning.invalidate()
    #expect(source.subscriberCount == 0)
    withExtendedLifetime(subscription) {}
  }
}
