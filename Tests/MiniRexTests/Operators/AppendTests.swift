import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct AppendTests {
  let first = BroadcastSource<Int>()
  let second = BroadcastSource<Int>()

  private var both: Broadcaster<Int> { first.publisher.append(second.publisher) }

  @Test func `R26 append subscribes to the second publisher when the first finishes`() {
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

  @Test func `R3 a callback that ends the first publisher receives its queued updates first`() {
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

  @Test func `append emits the second current value, even if it equals the last value`() {
    let one = PublishedProperty(1)
    let two = PublishedProperty(1)
    let recorder = Recorder(one.publisher.append(two.publisher))
    two.value = 2
    one.value = 2
    one.end()
    two.value = 3
    #expect(recorder.updates == [1, 2, 2, 3])
  }

  @Test
  func `appended work starts after the first publisher and is cancelable`()
    async
  {
    let hasStarted = Shared(false)
    let work = PublishedTask<Int, Never> {
      hasStarted.value = true
      while !Task.isCancelled { await Task.yield() }
      return 1
    }
    let isDone = Shared(false)
    let results = BroadcastSource<Result<Int, Never>>()
    let subscription = results.publisher.append(work.broadcaster).subscribe { _ in
      isDone.value = true
    }
    #expect(!hasStarted.value)
    results.end()
    await until { hasStarted.value }
    await subscription.invalidateAndWait()
    #expect(!isDone.value && !subscription.isSubscribed)
  }

  @Test func `R6 a canceled subscriber never subscribes to the second publisher`() {
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = both.subscribe { [first] _ in
      calls.increment()
      first.end()
      subscription.value?.invalidate()
    }
    first.broadcast(1)
    #expect(calls.value == 1)
    #expect(second.subscriberCount == 0 && subscription.value?.isSubscribed == false)
  }

  @Test func `R1 R8 concurrent sends, ends, and cancellations never overlap callbacks`() {
    for _ in 0..<scaled(300) {
      let first = BroadcastSource<Int>()
      let second = BroadcastSource<Int>()
      let inside = Shared(0)
      let calls = Shared<[Int]>([])
      let subscription = first.publisher.append(second.publisher).subscribe { number in
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
        if thread == 3 { subscription.invalidateAndWait() }
      }
      let numbers = calls.value
      let firstOfSecond = numbers.firstIndex { $0 > 100 } ?? numbers.count
      #expect(numbers[firstOfSecond...].allSatisfy { $0 > 100 })
      #expect(first.subscriberCount == 0 && second.subscriberCount == 0)
    }
  }

  @Test func `R11 a cancellation in a callback of the second publisher releases immediately`() {
    let late = Shared(0)
    // Whether a release defers the releases far below it depends on the depth of the stack.
    for place in 0..<scaled(2_000) {
      let (first, other) = (BroadcastSource<Int>(), BroadcastSource<Int>())
      let isReleased = Shared(false)
      let inner = other.publisher.subscribe { [witness = Witness { isReleased.value = true }] _ in
        witness.touch()
      }
      let subscription = first.publisher.append(.sequence([1])).subscribe { _ in
        deepDown(500 + place % 53) {
          inner.invalidate()
          if !isReleased.value { late.increment() }
        }
      }

      deepDown(place % 61) { first.end() }

      withExtendedLifetime(subscription) {}
    }
    #expect(late.value == 0)
  }

  @Test func `R22 pendingUpdates covers both publishers`() {
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

/// Runs `body` the given number of stack frames deeper.
@inline(never)
private func deepDown(_ depth: Int, _ body: () -> Void) {
  if depth == 0 { return body() }
  deepDown(depth - 1) { body() }
}
