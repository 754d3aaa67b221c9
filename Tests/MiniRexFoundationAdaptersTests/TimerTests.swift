import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct TimerTests {
  let queue = DispatchQueue(label: "test")

  @Test func `a timer fires on the queue at multiples of its interval`() async {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let began = ContinuousClock.now
    let recorder = Recorder(
      queue.broadcaster(every: .milliseconds(5)).map { elapsed in
        DispatchQueue.getSpecific(key: key) == true ? elapsed : .zero
      })

    let elapsed = await recorder.next(4)

    #expect(ContinuousClock.now - began >= .milliseconds(20))
    #expect(elapsed == elapsed.sorted() && Set(elapsed).count == 4)
    #expect(
      elapsed.allSatisfy {
        $0 > .zero && $0 / .milliseconds(5) == ($0 / .milliseconds(5)).rounded()
      })
  }

  @Test(arguments: [true, false])
  func `a timer retains its queue`(isGlobal: Bool) async {
    let ticks = (isGlobal ? DispatchQueue.global() : DispatchQueue(label: "test"))
      .broadcaster(every: .milliseconds(1))
    let recorder = Recorder(ticks)

    #expect(await recorder.next(2).count == 2)
  }

  @Test func `a timer skips multiples that pass while the queue is busy`() async {
    let gate = Gate()
    let recorder = Recorder(queue.broadcaster(every: .milliseconds(1)))
    await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume()
        gate.wait()
      }
    }
    let began = ContinuousClock.now
    while ContinuousClock.now - began < .milliseconds(50) {}
    let seen = recorder.updates
    gate.open()

    let next = await recorder.next(seen.count + 1).last

    #expect((next ?? .zero) - (seen.last ?? .zero) >= .milliseconds(40))
  }

  @Test func `R20 canceling releases the callback of a queue that never runs`() {
    queue.suspend()
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let subscription = queue.broadcaster(every: .seconds(1)).subscribe { _ in witness.touch() }
      #expect(subscription.isSubscribed)
    }

    #expect(isReleased.value)
    queue.resume()
  }

  @Test func `an interval beyond the range of the platform never fires`() async {
    await #expect(processExitsWith: .success) {
      let queue = DispatchQueue(label: "test")
      let operations = OperationQueue()
      for far in [Duration.seconds(Int64.max), Duration(attoseconds: .max)] {
        let timer = Recorder(queue.broadcaster(every: far, leeway: far))
        let late = Recorder(Broadcaster.sequence([1]).delaySubscription(for: far, on: queue))
        let later = Recorder(
          Broadcaster.sequence([1]).delaySubscription(for: far, on: operations))

        _ = await Recorder(queue.broadcaster(every: .milliseconds(5))).next(4)

        precondition(timer.updates.isEmpty && late.updates.isEmpty && later.updates.isEmpty)
      }
    }
  }

  @Test func `R23 an interval of 0 or less traps with advice`() async {
    await #expect(processExitsWith: .failure) {
      _ = DispatchQueue(label: "test").broadcaster(every: .zero)
    }
    await #expect(processExitsWith: .failure) {
      _ = DispatchQueue(label: "test").broadcaster(every: .seconds(1), leeway: .seconds(-1))
    }
  }
}
