import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ChunkedTests {
  let clock = ManualClock()
  let source = BroadcastSource<Int>()

  private func send(_ numbers: ClosedRange<Int>) {
    for number in numbers { source.broadcast(number) }
  }

  /// Chunks by count, by interval, and by both.
  private var all: [Broadcaster<[Int]>] {
    [
      source.publisher.chunked(by: 3),
      source.publisher.chunked(every: .seconds(1), clock: clock),
      source.publisher.chunked(by: 3, every: .seconds(1), clock: clock),
    ]
  }

  @Test func `R26 the last partial chunk is delivered before onEnd`() {
    let events = all.map { _ in Shared<[String]>([]) }
    let subscriptions = zip(all, events).map { publisher, events in
      publisher.subscribe {
        events.append("\($0)")
      } onEnd: {
        events.append("end")
      }
    }
    send(1...5)
    source.end()
    #expect(events[0].value == ["[1, 2, 3]", "[4, 5]", "end"])
    #expect(events[1].value == ["[1, 2, 3, 4, 5]", "end"])
    #expect(events[2].value == ["[1, 2, 3]", "[4, 5]", "end"])
    #expect(subscriptions.allSatisfy { !$0.isSubscribed })
    #expect(clock.sleeperCount == 0)
  }

  @Test func `an empty chunk is never emitted`() {
    let recorders = all.map { Recorder($0) }
    clock.advance(by: .seconds(5))
    send(1...3)
    clock.advance(by: .seconds(5))
    source.end()
    for recorder in recorders {
      #expect(recorder.updates == [[1, 2, 3]])
      #expect(recorder.hasEnded)
    }
  }

  @Test func `R26 a canceled subscriber does not receive the partial chunk`() {
    let calls = Shared(0)
    let subscriptions = all.map { $0.subscribe { _ in calls.increment() } }
    send(1...2)
    for subscription in subscriptions { subscription.invalidate() }
    source.end()
    clock.advance(by: .seconds(5))
    #expect(calls.value == 0)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `R25 an interval starts with the first update of a chunk`() {
    let recorder = Recorder(source.publisher.chunked(every: .seconds(1), clock: clock))
    clock.advance(by: .milliseconds(900))
    #expect(clock.sleeperCount == 0)
    source.broadcast(1)
    clock.advance(by: .milliseconds(900))
    source.broadcast(2)
    #expect(recorder.updates == [])

    clock.advance(by: .milliseconds(100))

    #expect(recorder.updates == [[1, 2]])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `R25 after a full chunk, the next update starts a new interval`() {
    let chunks = source.publisher.chunked(by: 2, every: .seconds(1), clock: clock)
    let recorder = Recorder(chunks)
    send(1...2)
    clock.advance(by: .milliseconds(600))
    send(3...3)
    clock.advance(by: .milliseconds(600))
    #expect(recorder.updates == [[1, 2]])
    clock.advance(by: .milliseconds(400))
    #expect(recorder.updates == [[1, 2], [3]])
  }

  @Test func `R25 chunked works with the real clock`() async {
    let recorder = Recorder(source.publisher.chunked(by: 2, every: .milliseconds(1)))
    send(1...3)
    #expect(await recorder.next(2) == [[1, 2], [3]])
  }

  @Test func `the first chunk of a published value starts with the current value`() {
    let size = PublishedProperty(1)
    let recorder = Recorder(size.publisher.chunked(by: 2))
    size.value = 2
    size.value = 2
    size.end()
    #expect(recorder.updates == [[1, 2]])
    #expect(recorder.hasEnded)
  }

  @Test func `R26 all updates of a publisher that finishes inside subscribe are delivered`() {
    let numbers = Broadcaster.sequence([1, 2, 3])
    for chunks in [
      numbers.chunked(by: 2), numbers.chunked(by: 2, every: .seconds(1), clock: clock),
    ] {
      let recorder = Recorder(chunks)
      #expect(recorder.updates == [[1, 2], [3]])
      #expect(recorder.hasEnded)
    }
  }

  @Test func `R26 an upstream end delivers the partial chunk, and a downstream end drops it`() {
    let above = Recorder(source.publisher.prefix(3).chunked(by: 2))
    let below = Recorder(source.publisher.chunked(by: 2).prefix(1))
    send(1...4)
    #expect(above.updates == [[1, 2], [3]])
    #expect(below.updates == [[1, 2]])
    #expect(above.hasEnded && below.hasEnded && source.subscriberCount == 0)
  }

  @Test func `R3 re-entrant updates are chunked in order`() {
    for publisher in [all[0], all[2]] {
      let recorder = Recorder(publisher) { [source] chunk in
        if chunk == [1, 2, 3] {
          for number in 10...13 { source.broadcast(number) }
        }
      }
      send(1...3)
      #expect(recorder.updates == [[1, 2, 3], [10, 11, 12]])
      recorder.invalidate()
    }
    let recorder = Recorder(all[0]) { [source] chunk in
      if chunk == [1, 2, 3] {
        source.broadcast(4)
        source.end()
        source.broadcast(5)
      }
    }
    send(1...3)
    #expect(recorder.updates == [[1, 2, 3], [4]])
    #expect(recorder.hasEnded)
  }

  @Test func `R7 invalidateAndWait waits for the callback with the last chunk`() {
    let hasStarted = Gate()
    let mayContinue = Gate()
    let isFinished = Shared(false)
    let subscription = source.publisher.chunked(by: 2).subscribe { _ in
      hasStarted.open()
      mayContinue.wait()
      isFinished.value = true
    }
    source.broadcast(1)
    onThreads(2) { [source] thread in
      if thread == 0 { return source.end() }
      hasStarted.wait()
      subscription.invalidate()
      mayContinue.open()
      subscription.invalidateAndWait()
      #expect(isFinished.value)
    }
  }

  @Test func `R1 R2 updates from four threads are complete and in the order of each sender`() async
  {
    let count = scaled(2_000)
    let recorders = [
      Recorder(source.publisher.chunked(by: 7)),
      Recorder(source.publisher.chunked(by: 7, every: .microseconds(20))),
      Recorder(source.publisher.chunked(every: .microseconds(20))),
    ]
    onThreads(4) { thread in
      for number in 0..<count { source.broadcast(4 * number + thread) }
    }
    await source.delivered()
    source.end()
    for recorder in recorders {
      await until { recorder.hasEnded }
      let numbers = recorder.updates.flatMap { $0 }
      #expect(numbers.sorted() == Array(0..<4 * count))
      for thread in 0..<4 {
        let own = numbers.filter { $0 % 4 == thread }
        #expect(own == own.sorted())
      }
    }
    #expect(recorders[0].updates.dropLast().allSatisfy { $0.count == 7 })
    #expect(recorders[1].updates.allSatisfy { $0.count <= 7 })
  }
}
