import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct SwitchToLatestTests {
  let numbers = [PublishedProperty(10), PublishedProperty(20)]
  let index = PublishedProperty(0)

  private var latest: PublishedValue<Int> {
    index.publisher.flatMapLatest { [numbers] in numbers[$0].publisher }
  }

  @Test func `current returns the current value of the current inner publisher`() {
    let latest = latest
    #expect(latest.current() == 10)
    index.value = 1
    #expect(latest.current() == 20)
    numbers[1].value = 21
    #expect(latest.current() == 21)
    let late = numbers[0].publisher.delay(for: .seconds(1), clock: ManualClock())
    #expect(index.publisher.flatMapLatest { _ in late }.current() == nil)
  }

  @Test func `R3 a callback that switches and sends does not nest`() {
    let depth = Shared(0)
    let recorder = Recorder(latest) { [numbers, index] number in
      #expect(depth.increment() == 1)
      if number == 11 {
        index.value = 1
        numbers[0].value = 12
        numbers[1].value = 21
      }
      depth.increment(by: -1)
    }
    numbers[0].value = 11
    // Updates of the replaced publisher are dropped.
    #expect(recorder.updates == [10, 11, 21])
  }

  @Test func `queued updates of a replaced publisher are dropped`() {
    let outer = BroadcastSource<Broadcaster<Int>>()
    let first = BroadcastSource<Int>()
    let second = PublishedProperty(20)
    let recorder = Recorder(outer.publisher.switchToLatest()) { number in
      if number == 1 { outer.broadcast(second.publisher.broadcaster) }
      if number == 20 {
        outer.broadcast(.sequence([30]))
        second.value = 21
      }
    }
    outer.broadcast(first.publisher)
    first.broadcast(1)
    #expect(recorder.updates == [1, 20, 30])
  }

  @Test func `the old inner subscription is canceled before the next subscription starts`() {
    let log = Shared<[String]>([])
    let outer = BroadcastSource<Int>()
    let subscription = outer.publisher.flatMapLatest { number in
      Broadcaster<Int> { _ in
        log.change { $0.append("+\(number)") }
        return Subscription { log.change { $0.append("-\(number)") } }
      }
    }.subscribe { _ in }
    for number in 1...3 { outer.broadcast(number) }
    subscription.invalidate()
    #expect(log.value == ["+1", "-1", "+2", "-2", "+3", "-3"])
  }

  @Test func `R12 a publisher that switches to itself is released with its subscription`() {
    let released = Shared(0)
    let outer = BroadcastSource<Int>()
    let itself = Shared<Broadcaster<Int>>(.never)
    itself.value = outer.publisher.flatMapLatest { number in
      number > 1 ? itself.value : .sequence([number])
    }
    do {
      let witness = Witness { released.increment() }
      let subscription = itself.value.subscribe { _ in witness.touch() }
      for number in [1, 2, 1, 3, 2] { outer.broadcast(number) }
      withExtendedLifetime(subscription) {}
    }
    #expect(released.value == 1)
    #expect(outer.subscriberCount == 0)
    itself.value = .never
  }

  @Test func `R2 no update of a replaced publisher follows an update of its successor`() async {
    for _ in 0..<scaled(50) {
      let inners = (0..<20).map { _ in BroadcastSource<Int>() }
      let outer = BroadcastSource<Int>()
      let recorder = Recorder(
        outer.publisher.flatMapLatest { index in inners[index].publisher.map { _ in index } })
      onThreads(3) { thread in
        for index in inners.indices {
          if thread == 0 { outer.broadcast(index) }
          for _ in 0..<2 { for inner in inners { inner.broadcast(0) } }
        }
      }
      // Another thread may still be subscribing to the last publisher.
      while recorder.updates.last != 19 {
        inners[19].broadcast(0)
        await Task.yield()
      }
      #expect(recorder.updates == recorder.updates.sorted())
    }
  }

  @Test func `R1 R16 R17 concurrent switches and changes converge without duplicates`() async {
    for round in 0..<scaled(200) {
      let numbers = [PublishedProperty(10), PublishedProperty(20)]
      let index = PublishedProperty(0)
      let recorder = Recorder(index.publisher.flatMapLatest { numbers[$0].publisher })
      onThreads(2) { thread in
        var random = SeededGenerator(seed: UInt64(2 * round + thread))
        for _ in 0..<100 {
          if thread == 0 {
            index.value = Int.random(in: 0..<2, using: &random)
          } else {
            numbers[Int.random(in: 0..<2, using: &random)].value =
              Int.random(in: 0..<4, using: &random)
          }
        }
      }
      let updates = recorder.updates
      #expect(updates.last == numbers[index.value].value)
      #expect(zip(updates, updates.dropFirst()).allSatisfy { $0 != $1 })
    }
  }
}
