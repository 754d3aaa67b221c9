import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct AppendTests {
  let first = BroadcastSource<Int>()
  let second = BroadcastSource<Int>()

  private var both: Broadcaster<Int> { first.publisher.append(second.publisher) }

  @Test func `R26 the second is subscribed to when the first has ended, and its end is the end`() {
    let recorder = Recorder(both)
    first.broadcast(1)
    #expect(second.subscriberCount == 0)
    second.broadcast(0)
    first.end()
    #expect(second.subscriberCount == 1 && !recorder.hasEnded && recorder.isSubscribed)
    second.broadcast(2)
    #expect(recorder.updates == [1, 2])
    second.end()
    #expect(recorder.hasEnded && !recorder.isSubscribed)
  }

  @Test func `R3 a callback that ends the first gets what was sent before, then the second`() {
    let recorder = Recorder(both) { [first, second] number in
      if number == 1 {
        first.broadcast(2)
        first.end()
        second.broadcast(0)
      }
      if number == 2 { second.broadcast(0) }
    }
    first.broadcast(1)
    second.broadcast(3)
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `R26 two that end inside subscribe are one that does`() {
    let recorder = Recorder(Broadcaster.sequence([1]).append(PublishedValue.constant(2)))
    #expect(recorder.updates == [1, 2] && recorder.hasEnded)
  }

  @Test func `of published values the current one follows, even if it equals the last`() {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let recorder = Recorder(one.publisher.append(two.publisher))
    two.value = 2
    one.value = 2
    one.end()
    two.value = 3
    #expect(recorder.updates == [1, 2, 2, 3])
  }

  @Test func `work that follows begins at its turn, and is cancelled with the subscription`() async
  {
    let hasBegun = Shared(false)
    let work = PublishedTask<Int, Never> {
      hasBegun.value = true
      while !Task.isCancelled { await Task.yield() }
      return 1
    }
    let isDone = Shared(false)
    let results = BroadcastSource<Result<Int, Never>>()
    let token = results.publisher.append(work.broadcaster).subscribe { _ in isDone.value = true }
    #expect(!hasBegun.value)
    results.end()
    while !hasBegun.value { await Task.yield() }
    await token.invalidateAndDrain()
    #expect(!isDone.value && !token.isSubscribed)
  }

  @Test func `R6 whoever leaves is not taken on to the second`() {
    let token = Shared<Subscription?>(nil)
    let calls = Shared(0)
    token.value = both.subscribe { [first] _ in
      calls.increment()
      first.end()
      token.value?.invalidate()
    }
    first.broadcast(1)
    #expect(calls.value == 1)
    #expect(second.subscriberCount == 0 && token.value?.isSubscribed == false)
  }

  @Test func `R7 invalidateAndWait waits for a first call of the second on another thread`() {
    let hasBegun = Gate()
    let mayGoOn = Gate()
    let isOver = Shared(false)
    let token = first.publisher.append(PublishedValue.constant(1)).subscribe { _ in
      hasBegun.open()
      mayGoOn.wait()
      isOver.value = true
    }
    onThreads(2) { [first] thread in
      if thread == 0 { return first.end() }
      hasBegun.wait()
      token.invalidate()
      mayGoOn.open()
      token.invalidateAndWait()
      #expect(isOver.value)
    }
  }

  @Test func `R11 the callback is released on either side of the change`() {
    let released = Shared(0)
    func subscribe() -> Subscription {
      let witness = Witness { released.increment() }
      return both.subscribe { _ in witness.touch() }
    }
    subscribe().invalidate()
    #expect(released.value == 1)
    let token = subscribe()
    first.end()
    #expect(released.value == 1)
    token.invalidate()
    #expect(released.value == 2)
    #expect(second.subscriberCount == 0)
  }

  @Test func `R1 R8 four threads send, end the first and leave, and nothing overlaps`() {
    for _ in 0..<scaled(300) {
      let first = BroadcastSource<Int>()
      let second = BroadcastSource<Int>()
      let inside = Shared(0)
      let calls = Shared<[Int]>([])
      let token = first.publisher.append(second.publisher).subscribe { number in
        #expect(inside.increment() == 1)
        calls.append(number)
        inside.increment(by: -1)
      }
      onThreads(4) { thread in
        for number in 1...20 {
          switch thread {
          case 0, 1: first.broadcast(number)
          case 2: second.broadcast(100 + number)
          default: if number == 10 { first.end() }
          }
        }
        if thread == 3 { token.invalidateAndWait() }
      }
      let numbers = calls.value
      let firstOfSecond = numbers.firstIndex { $0 > 100 } ?? numbers.count
      #expect(numbers[firstOfSecond...].allSatisfy { $0 > 100 })
      #expect(first.subscriberCount == 0 && second.subscriberCount == 0)
    }
  }

  @Test func `R11 what a callback of the second ends is released before invalidate returns`() {
    let late = Shared(0)
    // Only in some places of the stack does a release make those far below it wait.
    for place in 0..<scaled(2_000) {
      let (first, other) = (BroadcastSource<Int>(), BroadcastSource<Int>())
      let isReleased = Shared(false)
      let inner = other.publisher.subscribe { [witness = Witness { isReleased.value = true }] _ in
        witness.touch()
      }
      let token = first.publisher.append(.sequence([1])).subscribe { _ in
        deepDown(500 + place % 53) {
          inner.invalidate()
          if !isReleased.value { late.increment() }
        }
      }

      deepDown(place % 61) { first.end() }

      withExtendedLifetime(token) {}
    }
    #expect(late.value == 0)
  }

  @Test func `R22 what waits in the first or in the second is told by the token of both`() {
    let (first, second) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    func waiting(_ source: BroadcastSource<Int>) -> Broadcaster<Int> {
      source.publisher.flatMap(limit: 1) { _ in Broadcaster<Int>.never }
    }
    let before = waiting(first).append(.never).subscribe { _ in }
    let after = Broadcaster<Int>.sequence([]).append(waiting(second)).subscribe { _ in }

    for number in 1...3 { first.broadcast(number) }
    for number in 1...4 { second.broadcast(number) }

    #expect(before.pendingUpdates == 2 && after.pendingUpdates == 3)
  }
}

/// Runs the body so many frames below.
@inline(never)
private func deepDown(_ depth: Int, _ body: () -> Void) {
  if depth == 0 { return body() }
  deepDown(depth - 1) { body() }
}
