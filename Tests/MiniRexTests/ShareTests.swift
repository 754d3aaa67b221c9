import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ShareTests {
  let source = BroadcastSource<Int>()
  let property = PublishedProperty(1)

  @Test func `it holds one subscription, from the first subscriber to the last`() {
    let shared = source.publisher.share()
    #expect(source.subscriberCount == 0)
    var one: Recorder<Int>? = Recorder(shared)
    var two: Recorder<Int>? = Recorder(shared)
    source.broadcast(1)
    #expect(source.subscriberCount == 1)
    #expect(one?.updates == [1] && two?.updates == [1])

    one = nil
    #expect(source.subscriberCount == 1)
    two = nil
    #expect(source.subscriberCount == 0)
  }

  @Test func `a lazy source starts with the first subscriber and stops with the last, each time`() {
    let starts = Shared(0)
    let stops = Shared(0)
    let lazy = Broadcaster<Int> { receive in
      starts.increment()
      receive(starts.value)
      return Subscription {
        withExtendedLifetime(receive) {}
        stops.increment()
      }
    }.share()
    for round in 1...3 {
      let one = Recorder(lazy)
      let two = Recorder(lazy)
      #expect(one.updates == [round] && two.updates == [])
      #expect(starts.value == round && stops.value == round - 1)
    }
    #expect(stops.value == 3)
  }

  @Test func `R28 of a value, every first call is made inside subscribe, also in a callback`() {
    let shared = property.publisher.map { $0 * 10 }.share()
    let nested = Shared<[Recorder<Int>]>([])
    let first = Recorder(shared) { number in
      let late = Recorder(shared)
      if number > 10 { #expect(late.updates == [number]) }
      nested.change { $0.append(late) }
    }
    property.value = 2

    #expect(first.updates == [10, 20])
    #expect(nested.value.map(\.updates) == [[10, 20], [20]])
  }

  @Test func `current is what a subscriber would get at once, shared or not`() {
    let clock = ManualClock()
    let calm = property.publisher.debounce(for: .seconds(1), clock: clock).share()
    #expect(calm.current() == 1)
    var recorder: Recorder<Int>? = Recorder(calm)
    property.value = 2
    #expect(calm.current() == 1)
    #expect(Recorder(calm).updates == [1])
    clock.advance(by: .seconds(1))
    #expect(calm.current() == 2)
    property.value = 3
    withExtendedLifetime(recorder) {}
    recorder = nil
    #expect(calm.current() == 3)
    #expect(source.publisher.share().broadcaster.publishedValue(initial: 7).current() == 7)
  }

  @Test func `R29 it forgets the value with the last subscriber, while the publisher is kept`() {
    let things = BroadcastSource<Thing>()
    weak var latest: Thing?
    let shared = PublishedValue(initial: { Thing() }, changes: things.publisher).share()
    do {
      let token = shared.subscribe { _ in }
      let thing = Thing()
      latest = thing
      things.broadcast(thing)
      withExtendedLifetime(token) {}
    }
    #expect(latest == nil)
    _ = shared
  }

  @Test func `R29 neither it nor its subscribers keep the source object`() {
    var source: BroadcastSource<Int>? = BroadcastSource()
    weak let weakly = source
    let shared = source?.publisher.share()
    let recorder = shared.map { Recorder($0) }
    source = nil
    #expect(weakly == nil)
    #expect(recorder?.hasEnded == true)
  }

  @Test func `R29 a subscription keeps it going when the publisher has gone`() {
    let recorder = Recorder(source.publisher.share())
    source.broadcast(1)
    #expect(recorder.updates == [1])
  }

  @Test func `the last subscriber may leave, and a new one come, in a callback`() {
    let starts = Shared(0)
    let shared = Broadcaster<Int> { [source] receive in
      starts.increment()
      return source.publisher.subscribe(receive)
    }.share()
    let one = Shared<Recorder<Int>?>(nil)
    let two = Shared<Recorder<Int>?>(nil)
    one.value = Recorder(shared) { _ in
      one.value?.invalidate()
      two.value = Recorder(shared)
    }
    for number in 1...2 { source.broadcast(number) }
    #expect(one.value?.updates == [1])
    #expect(two.value?.updates == [2])
    #expect(starts.value == 2)
    two.value = nil
    #expect(source.subscriberCount == 0)
  }

  @Test func `R26 who subscribes when it ends begins anew`() {
    let shared = Broadcaster.sequence([1, 2]).share()
    let again = Shared<Recorder<Int>?>(nil)
    let token = shared.subscribe {
      _ in
    } onEnd: {
      again.value = Recorder(shared)
    }
    #expect(again.value?.updates == [1, 2])
    #expect(!token.isSubscribed)
  }

  @Test func `R12 whatever is shared and switched in turn goes with the last token, each time`() {
    let released = Shared(0)
    let other = BroadcastSource<Int>()
    let shared = source.publisher.share().flatMapLatest { number in
      other.publisher.share().map { $0 + number }
    }.share()
    let nested = shared.flatMapLatest { _ in shared }.share()
    for round in 1...scaled(100) {
      do {
        let witness = Witness { released.increment() }
        let token = merge(shared, nested).subscribe { _ in witness.touch() }
        for number in 1...3 {
          source.broadcast(number)
          other.broadcast(number)
        }
        #expect(source.subscriberCount == 1 && other.subscriberCount == 1)
        withExtendedLifetime(token) {}
      }
      #expect(released.value == round)
      #expect(source.subscriberCount == 0 && other.subscriberCount == 0)
    }
  }

  @Test func `R29 publisher and subscription gone, what it was made of is gone`() {
    let released = Shared(0)
    func shared() -> Broadcaster<Int> {
      let witness = Witness { released.increment() }
      return source.publisher.map { number in
        witness.touch()
        return number
      }.share()
    }
    var publisher: Broadcaster<Int>? = shared()
    var recorder = publisher.map { Recorder($0) }
    source.broadcast(1)
    publisher = nil
    source.broadcast(2)
    #expect(recorder?.updates == [1, 2])
    #expect(released.value == 0)
    recorder = nil
    #expect(released.value == 1)
  }

  @Test func `R19 threads that come and go start it once at a time, and leave nothing`() {
    let running = Shared(0)
    let tooMany = Shared(0)
    let shared = Broadcaster<Int> { [source] receive in
      if running.increment() > 2 { tooMany.increment() }
      let inner = source.publisher.subscribe(receive)
      return Subscription {
        inner.invalidate()
        running.increment(by: -1)
      }
    }.share()
    onThreads(4) { thread in
      for number in 1...scaled(2_000) {
        if thread == 0 { source.broadcast(number) } else { Recorder(shared).invalidate() }
      }
    }
    #expect(running.value == 0)
    #expect(source.subscriberCount == 0)
  }

  @Test func `R5 R29 whoever joins while another thread connects misses nothing afterwards`() {
    expectNothingMissedWhileConnecting { $0.publisher.share() }
  }

  @Test func `R29 what connects may join itself, and others wait until it has`() {
    let isConnecting = Gate()
    let mayConnect = Gate()
    let source = BroadcastSource<Int>()
    let own = Shared<Recorder<Int>?>(nil)
    let late = Shared<Recorder<Int>?>(nil)
    let first = Shared<Recorder<Int>?>(nil)
    let shared = Shared<Broadcaster<Int>>(.never)
    shared.value = Broadcaster<Int> { receive in
      own.value = Recorder(shared.value)
      isConnecting.open()
      mayConnect.wait()
      return source.publisher.subscribe(receive)
    }.share()
    onThreads(3) { thread in
      if thread == 0 {
        first.value = Recorder(shared.value)
        return
      }
      isConnecting.wait()
      if thread == 1 { return mayConnect.open() }
      late.value = Recorder(shared.value)
      source.broadcast(1)
    }
    #expect([first, late, own].allSatisfy { $0.value?.updates == [1] })
    shared.value = .never
  }

  @Test func `R10 two that connect to each other from two threads do not wait for each other`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      connectTwoToEachOther { Broadcaster($0).share() }
    }
  }

  @Test func `R14 R28 on any thread the first value is followed by the changes without a gap`() {
    for _ in 0..<scaled(50) {
      let property = PublishedProperty(0)
      let shared = property.publisher.share()
      let keeper = Recorder(shared)
      onThreads(3) { thread in
        if thread == 0 {
          for number in 1...200 { property.value = number }
        } else {
          for _ in 0..<50 {
            let last = Shared<Int?>(nil)
            let token = shared.subscribe { number in
              if let last = last.value, number != last + 1 {
                Issue.record("\(number) after \(last)")
              }
              last.value = number
            }
            token.invalidateAndWait()
          }
        }
      }
      #expect(keeper.updates == Array(0...200))
    }
  }

  @Test func `R13 R28 a value that ends while others subscribe gives each of them a first value`() {
    for _ in 0..<scaled(1_000) {
      let property = PublishedProperty(1)
      let shared = property.publisher.share()
      let keeper = Recorder(shared)
      let late = Shared<[Recorder<Int>]>([])
      onThreads(3) { thread in
        if thread == 0 { return property.end() }
        for _ in 0..<5 {
          let recorder = Recorder(shared)
          late.change { $0.append(recorder) }
        }
      }
      #expect(late.value.allSatisfy { $0.updates == [1] && $0.hasEnded })
      #expect(keeper.hasEnded)
    }
  }
}

/// Two threads subscribe first, at the same time, and one of them sends then.
func expectNothingMissedWhileConnecting(
  _ make: (BroadcastSource<Int>) -> Broadcaster<Int>,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  for _ in 0..<scaled(2_000) {
    let source = BroadcastSource<Int>()
    let shared = make(source)
    let recorders = Shared<[Recorder<Int>]>([])
    let token = Shared<Subscription?>(nil)
    onThreads(2) { thread in
      if thread == 0 {
        token.value = shared.subscribe { _ in }
        return
      }
      let recorder = Recorder(shared)
      for number in 1...2 { source.broadcast(number) }
      recorders.change { $0.append(recorder) }
    }
    #expect(recorders.value.map(\.updates) == [[1, 2]], sourceLocation: sourceLocation)
  }
}

typealias StartOfNumbers = @Sendable (@escaping @Sendable (Int) -> Void) -> Subscription

/// Two broadcasters subscribe to each other when they are started, from two threads at the same time.
func connectTwoToEachOther(_ make: (@escaping StartOfNumbers) -> Broadcaster<Int>) {
  for _ in 0..<500 {
    let pair = Shared<[Broadcaster<Int>]>([])
    let connecting = [Gate(), Gate()]
    pair.value = (0..<2).map { index in
      make { receive in
        connecting[index].open()
        connecting[1 - index].wait()
        return pair.value[1 - index].subscribe(receive)
      }
    }
    onThreads(2) { index in pair.value[index].subscribe { _ in }.invalidate() }
    pair.value = []
  }
}
