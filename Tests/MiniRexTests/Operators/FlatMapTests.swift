import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct FlatMapTests {
  let outer = BroadcastSource<Int>()
  let inners = (0..<4).map { _ in BroadcastSource<Int>() }

  private func flatMap(limit: Int) -> Broadcaster<Int> {
    outer.publisher.flatMap(limit: limit) { [inners] in inners[$0].publisher }
  }

  @Test func `flatMap subscribes to at most 'limit' inner publishers, in order`() {
    let recorder = Recorder(flatMap(limit: 2))
    for index in 0..<4 { outer.broadcast(index) }
    #expect(inners.map(\.subscriberCount) == [1, 1, 0, 0])

    for (index, inner) in inners.enumerated() { inner.broadcast(index) }
    inners[1].end()
    for (index, inner) in inners.enumerated() { inner.broadcast(10 + index) }
    inners[0].end()

    #expect(inners.map(\.subscriberCount) == [0, 0, 1, 1])
    inners[3].broadcast(23)
    inners[2].broadcast(22)
    #expect(recorder.updates == [0, 1, 10, 12, 23, 22])
  }

  @Test func `the transform runs when a place is free`() {
    let made = Shared<[Int]>([])
    let recorder = Recorder(
      outer.publisher.flatMap(limit: 1) { [inners] index in
        made.append(index)
        return inners[index].publisher
      })
    for index in 0..<3 { outer.broadcast(index) }
    #expect(made.value == [0])
    inners[0].end()
    #expect(made.value == [0, 1])
    withExtendedLifetime(recorder) {}
  }

  @Test func `R22 pendingUpdates counts the queue through downstream operators`() {
    let released = Shared(0)
    let outer = BroadcastSource<Witness>()
    let publisher = outer.publisher.flatMap(limit: 1) { _ in Broadcaster<Int>.never }
    let waiting = merge([publisher.map { $0 + 1 }.filter { $0 > 0 }])
    let subscription = waiting.subscribe {
      _ in
    } onEnd: {
    }
    #expect(subscription.pendingUpdates == 0)
    for _ in 0..<5 { outer.broadcast(Witness { released.increment() }) }
    #expect(subscription.pendingUpdates == 4)
    #expect(released.value == 1)
    subscription.invalidate()
    #expect(subscription.pendingUpdates == 0)
    #expect(released.value == 5)
  }

  @Test func `R22 pendingUpdates includes updates queued for the delivering thread`() {
    let subscription = Shared<Subscription?>(nil)
    let pending = Shared(0)
    subscription.value = flatMap(limit: 2).subscribe { [inners] number in
      if number == 1 { return }
      onThreads(1) { _ in inners[1].broadcast(1) }
      pending.value = subscription.value?.pendingUpdates ?? 0
    }
    for index in 0..<3 { outer.broadcast(index) }

    inners[0].broadcast(0)

    #expect(pending.value == 2)
    #expect(subscription.value?.pendingUpdates == 1)
    subscription.value = nil
  }

  @Test func `inner publishers can be tasks and published values`() {
    let source = TaskSource<Int, Never>()
    let recorder = Recorder(
      outer.publisher.flatMap(limit: 1) { $0 == 0 ? source.publisher : .success($0) })
    for number in 0..<3 { outer.broadcast(number) }
    #expect(recorder.updates == [])
    source.finish(.success(7))
    #expect(recorder.updates == [7, 1, 2].map { .success($0) })
    let size = PublishedProperty(1)
    #expect(Recorder(size.publisher.flatMap(limit: 1) { .constant($0) }).updates == [1])
  }

  @Test func `R26 flatMap finishes after the outer, all inner, and all queued publishers`() {
    let recorder = Recorder(flatMap(limit: 1))
    for index in 0..<2 { outer.broadcast(index) }
    outer.end()
    inners[0].end()
    #expect(!recorder.hasEnded)
    inners[1].broadcast(1)
    inners[1].end()
    #expect(recorder.updates == [1])
    #expect(recorder.hasEnded)
    #expect(Recorder(Broadcaster<Int>.sequence([]).flatMap(limit: 1) { .sequence([$0]) }).hasEnded)
  }

  @Test func `R3 a callback that sends to outer and inner publishers does not nest`() {
    let depth = Shared(0)
    let recorder = Recorder(flatMap(limit: 1)) { [outer, inners] number in
      #expect(depth.increment() == 1)
      if number == 0 {
        outer.broadcast(1)
        inners[0].broadcast(10)
        inners[0].end()
        inners[1].broadcast(11)
      }
      depth.increment(by: -1)
    }
    outer.broadcast(0)
    inners[0].broadcast(0)
    // `flatMap` subscribes to the second publisher after the callback, when the first has finished.
    #expect(recorder.updates == [0, 10])
    inners[1].broadcast(12)
    #expect(recorder.updates == [0, 10, 12])
  }

  @Test(arguments: [1, 2, Int.max])
  func `R3 inner publishers that finish inside subscribe use constant stack`(limit: Int) {
    let count = chainSteps(overflowingDepth)
    onThread(stackSize: 512 * 1_024) { [outer] in
      let sum = Shared(0)
      // They are queued behind the first, and then follow each other.
      let first = BroadcastSource<Int>()
      let subscription = outer.publisher.flatMap(limit: limit) { number in
        number == 0 ? first.publisher : .sequence([number])
      }.subscribe { number in sum.increment(by: number) }
      if limit == 2 { outer.broadcast(0) }
      for number in 0...count { outer.broadcast(number) }
      first.end()
      #expect(sum.value == count * (count + 1) / 2)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R6 cancellation in the callback stops callbacks and transforms`() {
    let made = Shared<[Int]>([])
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = outer.publisher.flatMap(limit: 1) { number in
      made.append(number)
      return number == 0 ? Broadcaster.sequence([1, 2, 3]) : .sequence([4])
    }.subscribe { _ in
      calls.increment()
      subscription.value?.invalidate()
    }
    for number in 0..<3 { outer.broadcast(number) }
    #expect(calls.value == 1)
    #expect(made.value == [0])
    #expect(outer.subscriberCount == 0)
  }

  @Test func `R6 flatMap ignores a publisher created during the cancellation`() {
    let subscription = Shared<Subscription?>(nil)
    let starts = Shared(0)
    subscription.value = outer.publisher.flatMap(limit: 1) { _ in
      subscription.value?.invalidate()
      return Broadcaster<Int> { _ in
        starts.increment()
        return .ended
      }
    }.subscribe { _ in }
    outer.broadcast(1)
    #expect(starts.value == 0)
    #expect(outer.subscriberCount == 0)
  }

  @Test func `a finished inner publisher is released immediately`() {
    let log = Shared<[String]>([])
    let ends = Shared<[@Sendable (Int) -> Void]>([])
    let subscription = outer.publisher.flatMap(limit: 2) { number in
      Broadcaster<Int> { receive in
        log.append("+\(number)")
        ends.append(receive)
        return Subscription { log.append("-\(number)") }
      }
    }.subscribe { _ in }
    for number in 0..<3 { outer.broadcast(number) }
    do {
      // Takes the callback out, so that it is released outside the lock.
      _ = ends.change { $0.removeFirst() }
    }
    #expect(Set(log.value.prefix(3)) == ["+0", "+1", "-0"])
    #expect(log.value.last == "+2")
    subscription.invalidate()
    #expect(Set(log.value.suffix(2)) == ["-1", "-2"])
  }

  @Test func `R32 async invalidateAndWait waits for the work of all inner tasks`() async {
    let work = Shared<[Int]>([])
    let publisher = outer.publisher.flatMap(limit: 2) { number in
      PublishedTask<Int, Never> {
        while !Task.isCancelled { await Task.yield() }
        work.append(number)
        return number
      }
    }
    let subscription = publisher.subscribe { _ in }
    for number in 0..<3 { outer.broadcast(number) }
    await subscription.invalidateAndWait()
    #expect(Set(work.value) == [0, 1])
  }

  @Test func `R1 R2 updates from four threads are serial and in the order of each sender`()
    async
  {
    for _ in 0..<scaled(50) {
      let overlaps = Shared(0)
      let inside = Shared(0)
      let outer = BroadcastSource<Int>()
      let inners = (0..<3).map { _ in BroadcastSource<Int>() }
      let recorder = Recorder(
        outer.publisher.flatMap(limit: 3) { index in inners[index].publisher.map { 3 * $0 + index }
        }
      ) { _ in
        if inside.increment() != 1 { overlaps.increment() }
        inside.increment(by: -1)
      }
      for index in 0..<3 { outer.broadcast(index) }
      onThreads(4) { thread in
        for number in 0..<100 {
          if thread < 3 { inners[thread].broadcast(number) } else { outer.broadcast(number % 3) }
        }
      }
      for inner in inners { inner.end() }
      outer.end()
      await until { recorder.hasEnded }
      #expect(overlaps.value == 0)
      #expect(recorder.updates.count == 300)
      for index in 0..<3 {
        #expect(recorder.updates.filter { $0 % 3 == index } == (0..<100).map { 3 * $0 + index })
      }
    }
  }

  @Test func `R26 concurrent ends lose no update and finish once`()
    async
  {
    for _ in 0..<scaled(200) {
      let outer = BroadcastSource<Int>()
      let ends = Shared(0)
      let sum = Shared(0)
      let inners = (0..<3).map { _ in BroadcastSource<Int>() }
      let subscription = outer.publisher.flatMap(limit: 2) { index in
        inners[index].publisher.prefix(1)
      }.subscribe {
        sum.increment(by: $0)
      } onEnd: {
        ends.increment()
      }
      for index in 0..<3 { outer.broadcast(index) }
      onThreads(4) { thread in
        if thread == 3 { return outer.end() }
        while ends.value == 0, sum.value < 3, inners[thread].subscriberCount == 0 {}
        inners[thread].broadcast(1)
      }
      await until { ends.value == 1 }
      #expect(sum.value == 3)
      withExtendedLifetime(subscription) {}
    }
  }
}
