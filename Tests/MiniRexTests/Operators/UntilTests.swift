import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// `prefix(until:)` and `drop(until:)`.
@Suite(.light) struct UntilTests {
  let numbers = BroadcastSource<Int>()
  let signal = BroadcastSource<String>()

  private var before: Broadcaster<Int> { numbers.publisher.prefix(until: signal.publisher) }
  private var after: Broadcaster<Int> { numbers.publisher.drop(until: signal.publisher) }

  @Test func `R26 both operators unsubscribe from the signal when their publisher finishes`() {
    let recorders = [Recorder(before), Recorder(after)]
    numbers.end()
    #expect(recorders.allSatisfy { $0.hasEnded })
    #expect(signal.subscriberCount == 0)
  }

  @Test func `a signal inside subscribe finishes prefix before it subscribes to its publisher`() {
    let isStarted = Shared(false)
    let publisher = Broadcaster<Int> { _ in
      isStarted.value = true
      return .ended
    }
    let recorder = Recorder(publisher.prefix(until: Broadcaster.sequence(["stop"])))
    #expect(recorder.hasEnded && !isStarted.value)
  }

  @Test func `R6 a callback that signals inside subscribe receives no further update`() {
    let publisher = Broadcaster.sequence([1, 2, 3])
    let calls = Shared<[Int]>([])
    let subscription = publisher.prefix(until: signal.publisher).subscribe { [signal] number in
      calls.append(number)
      if number == 2 { signal.broadcast("stop") }
    }
    #expect(calls.value == [1, 2])
    #expect(!subscription.isSubscribed && signal.subscriberCount == 0)
  }

  @Test func `R6 a callback that signals is not called again in the current turn`() {
    let recorder = Recorder(before) { [numbers, signal] number in
      numbers.broadcast(number + 1)
      if number == 2 { signal.broadcast("stop") }
    }
    numbers.broadcast(1)
    #expect(recorder.updates == [1, 2])
    #expect(recorder.hasEnded)
  }

  @Test func `drop until unsubscribes from the signal after its first update`() {
    let recorder = Recorder(after)
    numbers.broadcast(1)
    signal.broadcast("go")
    #expect(signal.subscriberCount == 0)
    numbers.broadcast(2)
    #expect(recorder.updates == [2])
  }

  @Test func `R26 a signal that ends without an update finishes drop, and prefix continues`() {
    let recorder = Recorder(after)
    let other = Recorder(before)
    signal.end()
    #expect(recorder.hasEnded && !other.hasEnded)
    #expect(numbers.subscriberCount == 1)
    #expect(Recorder(after).hasEnded)
    numbers.broadcast(1)
    #expect(other.updates == [1])
  }

  @Test func `a signal derived from the same source excludes the update from prefix only`() {
    let three = numbers.publisher.filter { $0 == 3 }
    let before = Recorder(numbers.publisher.prefix(until: three))
    let after = Recorder(numbers.publisher.drop(until: three))
    for number in 1...5 { numbers.broadcast(number) }
    #expect(before.updates == [1, 2])
    #expect(after.updates == [3, 4, 5])
  }

  @Test func `prefix emits the first value, and drop starts with the next change`() {
    let size = PublishedProperty(1)
    let before = Recorder(size.publisher.prefix(until: signal.publisher))
    let after = Recorder(size.publisher.drop(until: signal.publisher))
    signal.broadcast("now")
    size.value = 2
    #expect(before.updates == [1])
    #expect(after.updates == [2])
  }

  @Test func `R6 R26 a signal from another thread finishes prefix once`() async {
    for _ in 0..<scaled(300) {
      let numbers = BroadcastSource<Int>()
      let signal = BroadcastSource<Int>()
      let ends = Shared(0)
      let last = Shared(0)
      let inside = Shared(0)
      let subscription = numbers.publisher.prefix(until: signal.publisher).subscribe { number in
        #expect(inside.increment() == 1)
        #expect(ends.value == 0)
        last.value = number
        inside.increment(by: -1)
      } onEnd: {
        ends.increment()
      }
      let late = Recorder(numbers.publisher.drop(until: signal.publisher))
      onThreads(4) { thread in
        for number in 1...20 {
          if thread == 0, number == 10 { signal.broadcast(0) }
          numbers.broadcast(number)
        }
      }
      await until { numbers.pendingUpdates == 0 && ends.value > 0 }
      #expect(ends.value == 1 && !subscription.isSubscribed)
      #expect(late.updates.count >= 11)
    }
  }
}
