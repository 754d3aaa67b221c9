import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The two ways to share one connection among all subscribers.
enum Sharing: String, CaseIterable, Codable {
  case operation, factory

  func publisher(
    _ connect: @escaping @Sendable (@escaping @Sendable (Int) -> Void) -> Subscription
  ) -> Broadcaster<Int> {
    switch self {
    case .operation: Broadcaster(connect).share()
    case .factory: .shared(connect)
    }
  }
}

@Suite(.light) struct ShareTests {
  let source = BroadcastSource<Int>()
  let property = PublishedProperty(1)

  @Test(arguments: Sharing.allCases)
  func `the first subscriber starts a shared publisher, and the last stops it`(sharing: Sharing) {
    let starts = Shared(0)
    let stops = Shared(0)
    let lazy = sharing.publisher { receive in
      starts.increment()
      receive(starts.value)
      return Subscription {
        withExtendedLifetime(receive) {}
        stops.increment()
      }
    }
    for round in 1...3 {
      let one = Recorder(lazy)
      let two = Recorder(lazy)
      one.invalidate()
      #expect(one.updates == [round] && two.updates == [])
      #expect(starts.value == round && stops.value == round - 1)
      two.invalidate()
      #expect(stops.value == round)
    }
  }

  @Test func `current returns the value that a new subscriber receives first`() {
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

  @Test func `share(for:) outlasts the last subscriber by its duration`() {
    let clock = ManualClock()
    let (starts, stops) = (Shared(0), Shared(0))
    let receiver = Shared<(@Sendable (Int) -> Void)?>(nil)
    let shared = PublishedValue(
      initial: { 0 },
      changes: Broadcaster<Int> { receive in
        starts.increment()
        receiver.value = receive
        return Subscription { stops.increment() }
      }
    ).share(for: .seconds(5), clock: clock)
    func counts() -> [Int] { [starts.value, stops.value] }

    Recorder(shared).invalidate()
    #expect(counts() == [1, 0] && clock.sleeperCount == 1)
    clock.advance(by: .seconds(4))
    receiver.value?(7)
    let second = Recorder(shared)
    #expect(second.updates == [7] && counts() == [1, 0])
    second.invalidate()
    clock.advance(by: .seconds(4))
    #expect(counts() == [1, 0])
    clock.advance(by: .seconds(1))
    #expect(counts() == [1, 1] && clock.sleeperCount == 0)
    #expect(Recorder(shared).updates == [0])
    #expect(counts() == [2, 1])
    clock.advance(by: .seconds(5))
    #expect(counts() == [2, 2])
  }

  @Test func `share(for:) keeps the run of a subscriber that joined before the duration ended`() {
    let clock = ManualClock()
    let stops = Shared(0)
    let shared = Broadcaster<Int> { receive in
      Subscription {
        withExtendedLifetime(receive) {}
        stops.increment()
      }
    }.share(for: .seconds(1), clock: clock)

    Recorder(shared).invalidate()
    let second = Recorder(shared)
    clock.advance(by: .seconds(10))
    #expect(stops.value == 0)
    second.invalidate()
    #expect(stops.value == 0)
    clock.advance(by: .seconds(1))
    #expect(stops.value == 1)
  }

  @Test func `share(for:) begins a new run after the publisher has finished`() {
    let clock = ManualClock()
    let starts = Shared(0)
    let shared = Broadcaster<Int> { receive in
      starts.increment()
      receive(starts.value)
      return .ended
    }.share(for: .seconds(1), clock: clock)

    #expect(Recorder(shared).updates == [1])
    #expect(Recorder(shared).updates == [2])
    #expect(Recorder(source.publisher.share(for: .zero, clock: clock)).updates == [])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `share(for:) starts and stops once per run, with any threads`() {
    for _ in 0..<scaled(200) {
      let clock = ManualClock()
      let running = Shared(0)
      let shared = Broadcaster<Int> { receive in
        running.change { $0 += 1 }
        return Subscription {
          withExtendedLifetime(receive) {}
          running.change { $0 -= 1 }
        }
      }.share(for: .milliseconds(2), clock: clock)
      onThreads(3) { index in
        for _ in 0..<30 {
          if index == 0 {
            clock.advance(by: .milliseconds(1))
          } else {
            let recorder = Recorder(shared)
            #expect(running.value >= 1)
            recorder.invalidate()
          }
        }
      }
      clock.advance(by: .milliseconds(2))
      #expect(running.value == 0 && clock.sleeperCount == 0)
    }
  }

  @Test func `R29 share releases the value with its last subscriber`() {
    let things = BroadcastSource<Thing>()
    weak var latest: Thing?
    let shared = PublishedValue(initial: { Thing() }, changes: things.publisher).share()
    do {
      let subscription = shared.subscribe { _ in }
      let thing = Thing()
      latest = thing
      things.broadcast(thing)
      withExtendedLifetime(subscription) {}
    }
    #expect(latest == nil)
    _ = shared
  }

  @Test func `R29 neither share nor its subscribers retain the source`() {
    var source: BroadcastSource<Int>? = BroadcastSource()
    weak let weakly = source
    let shared = source?.publisher.share()
    let recorder = shared.map { Recorder($0) }
    source = nil
    #expect(weakly == nil)
    #expect(recorder?.hasEnded == true)
  }

  @Test func `R29 a subscription keeps share active after the publisher is released`() {
    let recorder = Recorder(source.publisher.share())
    source.broadcast(1)
    #expect(recorder.updates == [1])
  }

  @Test func `the last subscriber may cancel and another may join in a callback`() {
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

  @Test func `R26 a subscriber that joins in onEnd restarts the publisher`() {
    let shared = Broadcaster.sequence([1, 2]).share()
    let again = Shared<Recorder<Int>?>(nil)
    let subscription = shared.subscribe {
      _ in
    } onEnd: {
      again.value = Recorder(shared)
    }
    #expect(again.value?.updates == [1, 2])
    #expect(!subscription.isSubscribed)
  }

  @Test func `R12 nested share and flatMapLatest are released with the last subscription`() {
    let released = Shared(0)
    let other = BroadcastSource<Int>()
    let shared = source.publisher.share().flatMapLatest { number in
      other.publisher.share().map { $0 + number }
    }.share()
    let nested = shared.flatMapLatest { _ in shared }.share()
    for round in 1...scaled(100) {
      do {
        let witness = Witness { released.increment() }
        let subscription = merge(shared, nested).subscribe { _ in witness.touch() }
        for number in 1...3 {
          source.broadcast(number)
          other.broadcast(number)
        }
        #expect(source.subscriberCount == 1 && other.subscriberCount == 1)
        withExtendedLifetime(subscription) {}
      }
      #expect(released.value == round)
      #expect(source.subscriberCount == 0 && other.subscriberCount == 0)
    }
  }

  @Test func `R29 releasing the publisher and its subscription releases the upstream closures`() {
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

  @Test(arguments: Sharing.allCases)
  func `R19 threads that subscribe and cancel leave no connection behind`(sharing: Sharing) {
    let running = Shared(0)
    let tooMany = Shared(0)
    let shared = sharing.publisher { [source] receive in
      // Each thread may be about to stop one, also the sender, which releases the callback that it calls.
      if running.increment() > 4 { tooMany.increment() }
      let inner = source.publisher.subscribe(receive)
      return Subscription {
        inner.invalidate()
        running.increment(by: -1)
      }
    }
    onThreads(4) { thread in
      for number in 1...scaled(2_000) {
        if thread == 0 { source.broadcast(number) } else { Recorder(shared).invalidate() }
      }
    }
    #expect(running.value == 0 && tooMany.value == 0)
    #expect(source.subscriberCount == 0)
  }

  @Test(arguments: Sharing.allCases)
  func `R29 a connecting closure may subscribe, and other threads wait for it`(sharing: Sharing) {
    let isConnecting = Gate()
    let mayConnect = Gate()
    let source = BroadcastSource<Int>()
    let own = Shared<Recorder<Int>?>(nil)
    let late = Shared<Recorder<Int>?>(nil)
    let first = Shared<Recorder<Int>?>(nil)
    let shared = Shared<Broadcaster<Int>>(.never)
    shared.value = sharing.publisher { receive in
      own.value = Recorder(shared.value)
      isConnecting.open()
      mayConnect.wait()
      return source.publisher.subscribe(receive)
    }
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

  @Test(arguments: Sharing.allCases)
  func `R10 two publishers that connect to each other from two threads do not deadlock`(
    sharing: Sharing
  ) async {
    await #expect(processExitsWith: .success) { [sharing] in
      mustEnd()
      for _ in 0..<500 {
        let pair = Shared<[Broadcaster<Int>]>([])
        let connecting = [Gate(), Gate()]
        pair.value = (0..<2).map { index in
          sharing.publisher { receive in
            connecting[index].open()
            connecting[1 - index].wait()
            return pair.value[1 - index].subscribe(receive)
          }
        }
        onThreads(2) { index in pair.value[index].subscribe { _ in }.invalidate() }
        pair.value = []
      }
    }
  }

  @Test(arguments: Sharing.allCases)
  func `R5 R29 a subscriber that joins during a connection misses no later update`(
    sharing: Sharing
  ) {
    for _ in 0..<scaled(500) {
      let source = BroadcastSource<Int>()
      let shared = sharing.publisher { source.publisher.subscribe($0) }
      let recorders = Shared<[Recorder<Int>]>([])
      let subscription = Shared<Subscription?>(nil)
      onThreads(2) { thread in
        if thread == 0 {
          subscription.value = shared.subscribe { _ in }
          return
        }
        let recorder = Recorder(shared)
        for number in 1...2 { source.broadcast(number) }
        recorders.change { $0.append(recorder) }
      }
      #expect(recorders.value.map(\.updates) == [[1, 2]])
    }
  }

  @Test func `R14 R28 the first shared value is followed by the changes without a gap`() {
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
            let subscription = shared.subscribe { number in
              if let last = last.value, number != last + 1 {
                Issue.record("\(number) after \(last)")
              }
              last.value = number
            }
            subscription.invalidateAndWait()
          }
        }
      }
      #expect(keeper.updates == Array(0...200))
    }
  }

  @Test func `R13 R28 subscribers that join a finishing value each receive the value`() {
    for _ in 0..<scaled(300) {
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

  @Test func `R29 a shared publisher with a duration has no timer after its upstream has finished`()
  {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let shared = source.publisher.share(for: .seconds(5), clock: clock)
    Recorder(shared).invalidate()
    #expect(clock.sleeperCount == 1)

    source.end()

    #expect(clock.sleeperCount == 0)
  }
}
