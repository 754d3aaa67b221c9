import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct SharedTests {
  let source = BroadcastSource<Int>()

  @Test func `the last cancellation cancels the returned subscription, even if it is retained`() {
    let started = Shared<Subscription?>(nil)
    let shared = Broadcaster<Int>.shared { [source] receive in
      let subscription = source.publisher.subscribe(receive)
      started.value = subscription
      return subscription
    }
    let recorder = Recorder(shared)
    #expect(started.value?.isSubscribed == true)
    recorder.invalidate()
    #expect(started.value?.isSubscribed == false)
  }

  @Test func `R26 releasing receive finishes the publisher, and the next subscriber restarts it`() {
    let receivers = Shared<[@Sendable (Int) -> Void]>([])
    let stops = Shared(0)
    let shared = Broadcaster<Int>.shared { receive in
      receivers.change { $0.append(receive) }
      return Subscription { stops.increment() }
    }
    let again = Shared<Recorder<Int>?>(nil)
    let subscription = shared.subscribe { _ in
    } onEnd: {
      again.value = Recorder(shared)
    }
    let other = Recorder(shared)
    receivers.value.first?(1)
    do {
      // Releases the reference outside the lock.
      let receive = receivers.value.first
      receivers.change { $0 = Array($0.dropFirst()) }
      withExtendedLifetime(receive) {}
    }
    #expect(other.updates == [1] && other.hasEnded && !subscription.isSubscribed)
    #expect(stops.value == 1)

    receivers.value.first?(2)
    #expect(again.value?.updates == [2])
  }

  @Test func `R26 releasing receive cancels the subscription before the last onEnd`() {
    let send = Shared<(@Sendable (Int) -> Void)?>(nil)
    let events = Shared<[String]>([])
    let shared = Broadcaster<Int>.shared { receive in
      send.value = receive
      return Subscription { events.append("stopped") }
    }
    let subscriptions = ["one", "two"].map { name in
      shared.subscribe { _ in
      } onEnd: {
        events.append(name)
      }
    }
    send.value = nil
    #expect(events.value == ["one", "stopped", "two"])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `R30 two values derived from a shared broadcaster update together`() {
    let shared = Broadcaster<Int>.shared { [source] in source.publisher.subscribe($0) }
    let (one, other) = (
      shared.publishedValue(initial: 0), shared.map { -$0 }.publishedValue(initial: 0)
    )
    let pairs = Recorder(combineLatest(one, other).map { [$0, $1] })
    for number in 1...3 { source.broadcast(number) }
    #expect(pairs.updates == [[0, 0], [1, -1], [2, -2], [3, -3]])
  }

  @Test func `R29 a subscription retains the shared state after the publisher is released`() {
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

  @Test func `R11 the last cancellation in a turn takes effect at the end of the turn`() {
    let shared = Broadcaster<Int>.shared { [source] in source.publisher.subscribe($0) }
    let one = Shared<Recorder<Int>?>(nil)
    one.value = Recorder(shared) { _ in one.value?.invalidate() }
    for number in 1...2 { source.broadcast(number) }
    #expect(one.value?.updates == [1])
    #expect(source.subscriberCount == 0)
  }

  @Test func `R11 the delivering thread performs a last cancellation from another thread`() {
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
    let subscription = shared.subscribe { _ in
      caller.value = .current
      isCalling.open()
      mayReturn.wait()
    }
    onThreads(2) { thread in
      if thread == 0 { return source.broadcast(1) }
      isCalling.wait()
      subscription.invalidate()
      #expect(stops.value == [])
      mayReturn.open()
    }
    #expect(stops.value == [caller.value])
  }

  @Test func `returning an ended subscription does not finish the publisher`() {
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

  @Test func `R5 a subscriber that joins in a callback does not receive queued updates`() {
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

  @Test func `R1 receive accepts calls from any thread`() async {
    let shared = Broadcaster<Int>.shared { receive in
      onThreads(4) { _ in for number in 1...scaled(1_000) { receive(number) } }
      return .ended
    }
    let recorder = Recorder(shared)
    // A Swift task may deliver the rest of a long queue.
    await until { recorder.updates.count == 4 * scaled(1_000) }
    #expect(recorder.updates.count == 4 * scaled(1_000))
  }

  @Test func `R32 the last async invalidateAndWait waits for the work of the closure`() async {
    let hasReturned = Shared(false)
    let hasStarted = Gate()
    let shared = Broadcaster<Int>.shared { receive in
      PublishedTask<Int, Never> {
        hasStarted.open()
        while !Task.isCancelled { await Task.yield() }
        hasReturned.value = true
        return 1
      }.subscribe { result in if case .success(let number) = result { receive(number) } }
    }
    let subscription = shared.subscribe { _ in }
    await onQueue { hasStarted.wait() }
    await subscription.invalidateAndWait()
    #expect(hasReturned.value)
  }
}
