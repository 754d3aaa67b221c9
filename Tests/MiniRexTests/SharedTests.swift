import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct SharedTests {
  let source = BroadcastSource<Int>()

  @Test func `it is started by the first subscriber and stopped by the last, each time`() {
    let starts = Shared(0)
    let stops = Shared(0)
    let shared = Broadcaster<Int>.shared { receive in
      starts.increment()
      receive(starts.value)
      return Subscription {
        withExtendedLifetime(receive) {}
        stops.increment()
      }
    }
    for round in 1...3 {
      let one = Recorder(shared)
      let two = Recorder(shared)
      one.invalidate()
      #expect(one.updates == [round] && two.updates == [])
      #expect(starts.value == round && stops.value == round - 1)
      two.invalidate()
      #expect(stops.value == round)
    }
  }

  @Test func `what was started ends with the last subscriber, whoever keeps its token`() {
    let started = Shared<Subscription?>(nil)
    let shared = Broadcaster<Int>.shared { [source] receive in
      let token = source.publisher.subscribe(receive)
      started.value = token
      return token
    }
    let recorder = Recorder(shared)
    #expect(started.value?.isSubscribed == true)
    recorder.invalidate()
    #expect(started.value?.isSubscribed == false)
  }

  @Test func `R26 it ends when the last reference to receive goes, and begins anew after that`() {
    let receivers = Shared<[@Sendable (Int) -> Void]>([])
    let stops = Shared(0)
    let shared = Broadcaster<Int>.shared { receive in
      receivers.change { $0.append(receive) }
      return Subscription { stops.increment() }
    }
    let again = Shared<Recorder<Int>?>(nil)
    let token = shared.subscribe { _ in
    } onEnd: {
      again.value = Recorder(shared)
    }
    let other = Recorder(shared)
    receivers.value.first?(1)
    do {
      // It is released where no lock is held.
      let receive = receivers.value.first
      receivers.change { $0 = Array($0.dropFirst()) }
      withExtendedLifetime(receive) {}
    }
    #expect(other.updates == [1] && other.hasEnded && !token.isSubscribed)
    #expect(stops.value == 1)

    receivers.value.first?(2)
    #expect(again.value?.updates == [2])
  }

  @Test func `R26 when receive goes, it is stopped before the last subscriber hears of the end`() {
    let send = Shared<(@Sendable (Int) -> Void)?>(nil)
    let events = Shared<[String]>([])
    let shared = Broadcaster<Int>.shared { receive in
      send.value = receive
      return Subscription { events.append("stopped") }
    }
    let tokens = ["one", "two"].map { name in
      shared.subscribe { _ in
      } onEnd: {
        events.append(name)
      }
    }
    send.value = nil
    #expect(events.value == ["one", "stopped", "two"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `R30 two that follow from it are told together`() {
    let shared = Broadcaster<Int>.shared { [source] in source.publisher.subscribe($0) }
    let (one, other) = (
      shared.publishedValue(initial: 0), shared.map { -$0 }.publishedValue(initial: 0)
    )
    let pairs = Recorder(combineLatest(one, other).map { [$0, $1] })
    for number in 1...3 { source.broadcast(number) }
    #expect(pairs.updates == [[0, 0], [1, -1], [2, -2], [3, -3]])
  }

  @Test func `R29 a subscription keeps it going when the publisher has gone, and leaves nothing`() {
    let released = Shared(0)
    func shared() -> Broadcaster<Int> {
      let witness = Witness { released.increment() }
      return .shared { [source] receive in
        source.publisher.subscribe { number in
          witness.touch()
          receive(number)
        }
      }
    }
    let recorder = Recorder(shared())
    source.broadcast(1)
    #expect(recorder.updates == [1] && released.value == 0)
    recorder.invalidate()
    #expect(released.value == 1 && source.subscriberCount == 0)
  }

  @Test func `R11 who leaves last in a turn, leaves at the end of it`() {
    let shared = Broadcaster<Int>.shared { [source] in source.publisher.subscribe($0) }
    let one = Shared<Recorder<Int>?>(nil)
    one.value = Recorder(shared) { _ in one.value?.invalidate() }
    for number in 1...2 { source.broadcast(number) }
    #expect(one.value?.updates == [1])
    #expect(source.subscriberCount == 0)
  }

  @Test func `R11 who leaves last while another thread calls, has it stopped by that one`() {
    let stops = Shared<[ThreadID?]>([])
    let shared = Broadcaster<Int>.shared { [source] receive in
      let inner = source.publisher.subscribe(receive)
      return Subscription {
        inner.invalidate()
        stops.append(.current)
      }
    }
    let isCalling = Gate()
    let mayReturn = Gate()
    let caller = Shared<ThreadID?>(nil)
    let token = shared.subscribe { _ in
      caller.value = .current
      isCalling.open()
      mayReturn.wait()
    }
    onThreads(2) { thread in
      if thread == 0 { return source.broadcast(1) }
      isCalling.wait()
      token.invalidate()
      #expect(stops.value == [])
      mayReturn.open()
    }
    #expect(stops.value == [caller.value])
  }

  @Test func `a token of what was started that ends by itself ends nothing`() {
    let receivers = Shared<[@Sendable (Int) -> Void]>([])
    let shared = Broadcaster<Int>.shared { receive in
      receivers.change { $0.append(receive) }
      return .ended
    }
    let recorders = [Recorder(shared), Recorder(shared)]
    receivers.value.first?(1)
    #expect(recorders.map(\.updates) == [[1], [1]])
    #expect(receivers.value.count == 1)
    receivers.value = []
    #expect(recorders.map(\.hasEnded) == [true, true])
  }

  @Test func `R5 who subscribes inside a callback does not get what waits already`() {
    let send = Shared<(@Sendable (Int) -> Void)?>(nil)
    let shared = Broadcaster<Int>.shared { receive in
      send.value = receive
      return Subscription { send.value = nil }
    }
    let bag = SubscriptionBag()
    let late = Shared<Recorder<Int>?>(nil)
    shared.subscribe { if $0 == 1 { send.value?(2) } }.store(in: bag)
    shared.subscribe { if $0 == 1 { late.value = Recorder(shared) } }.store(in: bag)
    send.value?(1)
    #expect(late.value?.updates == [])
    send.value?(3)
    #expect(late.value?.updates == [3])
    late.value = nil
    bag.invalidate()
  }

  @Test func `R1 it may be called from any threads`() {
    let shared = Broadcaster<Int>.shared { receive in
      onThreads(4) { _ in for number in 1...scaled(1_000) { receive(number) } }
      return .ended
    }
    #expect(Recorder(shared).updates.count == 4 * scaled(1_000))
  }

  @Test func `R32 whoever drains the last subscription waits for the work that it led to`() async {
    let isBack = Shared(false)
    let begun = Gate()
    let shared = Broadcaster<Int>.shared { receive in
      PublishedTask<Int, Never> {
        begun.open()
        while !Task.isCancelled { await Task.yield() }
        isBack.value = true
        return 1
      }.subscribe { result in if case .success(let number) = result { receive(number) } }
    }
    let token = shared.subscribe { _ in }
    await Task.detached { begun.wait() }.value
    await token.invalidateAndDrain()
    #expect(isBack.value)
  }

  @Test func `R5 R29 whoever joins while another thread connects misses nothing afterwards`() {
    expectNothingMissedWhileConnecting { source in
      .shared { source.publisher.subscribe($0) }
    }
  }

  @Test func `R29 what connects may join itself, and others wait until it has`() {
    let isConnecting = Gate()
    let mayConnect = Gate()
    let source = BroadcastSource<Int>()
    let recorders = Shared<[Recorder<Int>]>([])
    let shared = Shared<Broadcaster<Int>>(.never)
    shared.value = .shared { receive in
      let own = Recorder(shared.value)
      recorders.change { $0.append(own) }
      isConnecting.open()
      mayConnect.wait()
      return source.publisher.subscribe(receive)
    }
    onThreads(3) { thread in
      if thread > 0 { isConnecting.wait() }
      if thread == 1 { return mayConnect.open() }
      let recorder = Recorder(shared.value)
      recorders.change { $0.append(recorder) }
      if thread == 2 { source.broadcast(1) }
    }
    #expect(recorders.value.map(\.updates) == [[1], [1], [1]])
    shared.value = .never
  }

  @Test func `R10 two that connect to each other from two threads do not wait for each other`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      connectTwoToEachOther { .shared($0) }
    }
  }

  @Test func `R19 threads that come and go start it once at a time, and leave nothing`() {
    let running = Shared(0)
    let tooMany = Shared(0)
    let shared = Broadcaster<Int>.shared { [source] receive in
      if running.increment() > 3 { tooMany.increment() }
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
}
