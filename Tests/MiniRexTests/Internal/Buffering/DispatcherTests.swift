import MiniRex
import TestSupport
import Testing

/// Each test occupies the main actor, so updates from other threads stay queued until it suspends.
@MainActor @Suite(.light) struct DispatcherTests {
  @Test func `R22 pendingUpdates counts the updates queued for the main actor`() async {
    let source = BroadcastSource<Int>()
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain { seen.append($0) }
    onThread { for number in 1...3 { source.broadcast(number) } }
    #expect(subscription.pendingUpdates == 3)

    await until { seen.count >= 3 }

    #expect(seen == [1, 2, 3])
    #expect(subscription.pendingUpdates == 0 && subscription.droppedCount == 0)
  }

  @Test func `R20 the main actor receives every update of an ended source, in several jobs`() async
  {
    let source = BroadcastSource<Int>()
    let count = 2 * Schedule.patience + 1
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain { seen.append($0) }
    onThread {
      for number in 0..<count { source.broadcast(number) }
      source.end()
    }

    await until(seen.count) { _ in !subscription.isSubscribed }

    #expect(seen == Array(0..<count))
  }

  @Test func `R20 an actor receives every update of an ended source, in several jobs`() async {
    actor Log {
      var numbers: [Int] = []
      func append(_ number: Int) { numbers.append(number) }
    }
    let log = Log()
    let source = BroadcastSource<Int>()
    let count = 2 * Schedule.patience + 1
    let subscription = source.publisher.subscribe(isolatedTo: log) { log, number in
      log.append(number)
    }
    for number in 0..<count { source.broadcast(number) }
    source.end()

    await until { !subscription.isSubscribed }

    #expect(await log.numbers == Array(0..<count))
  }

  @Test func `R22 bufferingNewest drops and counts the oldest dispatched updates`() async {
    let source = BroadcastSource<Int>()
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain(buffering: .bufferingNewest(2)) {
      seen.append($0)
    }
    onThread { for number in 1...5 { source.broadcast(number) } }
    #expect(subscription.pendingUpdates == 2 && subscription.droppedCount == 3)

    await until { seen.count >= 2 }
    source.broadcast(6)

    #expect(seen == [4, 5, 6])
    #expect(subscription.droppedCount == 3)
  }

  @Test func `R22 bufferingOldest drops and counts the newest dispatched updates`() async {
    actor Log {
      var numbers: [Int] = []
      func append(_ number: Int) { numbers.append(number) }
      func hold(until gate: Gate, _ isHeld: Gate) {
        isHeld.open()
        gate.wait()
      }
    }
    let log = Log()
    let isHeld = Gate()
    let gate = Gate()
    let source = BroadcastSource<Int>()
    let subscription = source.publisher.subscribe(isolatedTo: log, buffering: .bufferingOldest(2)) {
      log, number in log.append(number)
    }
    let holding = Task.detached { await log.hold(until: gate, isHeld) }
    onThread { isHeld.wait() }

    for number in 1...5 { source.broadcast(number) }

    #expect(subscription.pendingUpdates == 2 && subscription.droppedCount == 3)
    gate.open()
    await holding.finished()
    await until { await log.numbers.count >= 2 }
    #expect(await log.numbers == [1, 2])
  }

  @Test func `R22 re-entrant sends on the main actor do not fill the buffer`() {
    let source = BroadcastSource<Int>()
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) { number in
      seen.append(number)
      if number == 0 { for next in 1...9 { source.broadcast(next) } }
    }

    source.broadcast(0)

    // The sends are re-entrant: they are delivered after the turn, when the queue is empty.
    #expect(seen == Array(0...9))
    #expect(subscription.droppedCount == 0)
  }

  @Test func `R16 R17 a value that changed back is not published after a bounded dispatch`()
    async
  {
    let property = PublishedProperty(1)
    let owner = Shared(0)
    var seen: [Int] = []
    let subscription = property.publisher.subscribeOnMain(
      weakly: owner, buffering: .bufferingNewest(1)
    ) { _, number in
      seen.append(number)
    }
    onThread {
      property.value = 2
      property.value = 1
    }
    await until { subscription.pendingUpdates == 0 }
    #expect(seen == [1] && subscription.droppedCount == 1)

    onThread { for number in 2...9 { property.value = number } }
    await until { subscription.pendingUpdates == 0 }

    #expect(seen == [1, 9])
  }

  @Test func `R18 a bounded dispatch never drops the result`() async {
    let source = ProgressiveTaskSource<Int, String, Never>()
    var seen: [String] = []
    let subscription = source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) { update in
      if case .finished(.success(let text)) = update { seen.append(text) }
    }
    onThread {
      for number in 1...9 { source.report(number) }
      source.finish(.success("done"))
    }

    await until { !subscription.isSubscribed }

    #expect(seen == ["done"] && subscription.droppedCount == 9)
  }

  @Test func `R11 R22 a dropped update is released immediately`() {
    let source = BroadcastSource<Witness>()
    let released = Shared(0)
    let subscription = source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) { _ in }
    onThread {
      for _ in 1...3 { source.broadcast(Witness { released.increment() }) }
    }
    #expect(released.value == 2)

    subscription.invalidate()

    #expect(released.value == 3)
    #expect(subscription.pendingUpdates == 0 && subscription.droppedCount == 2)
  }

  @Test func `R9 the release of a dropped update may send and cancel`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Witness?>()
      let subscription = Shared<Subscription?>(nil)
      subscription.value = await source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) {
        _ in
      }
      await MainActor.run {
        onThread {
          source.broadcast(
            Witness {
              source.broadcast(nil)
              subscription.value?.invalidate()
            })
          source.broadcast(nil)
        }
      }
      precondition(subscription.value?.isSubscribed == false)
    }
  }

  @Test func `R22 an instrument receives the backlog and the drops of a dispatch`() {
    let log = EventLog(backlogLimit: 2)
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let line = #line + 1
    let all = source.publisher.subscribeOnMain { _ in }
    let newest = source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) { _ in }

    onThread { for number in 1...4 { source.broadcast(number) } }

    let backlogs = log.all.filter { if case .backlog = $0.kind { true } else { false } }
    #expect(backlogs.map(\.kind) == [.backlog(2), .backlog(4)])
    #expect(backlogs.map { $0.subscriber?.line } == [line, line])
    let dropped = log.all.filter { $0.kind == .dropped(1) }
    #expect(dropped.map { $0.subscriber?.line } == [line + 1, line + 1, line + 1])
    withExtendedLifetime((all, newest)) {}
  }

  @Test func `R22 an instrument receives the backlog of a loop`() {
    let log = EventLog(backlogLimit: 2)
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let values = source.publisher.values(.unbounded)

    for number in 1...4 { source.broadcast(number) }

    #expect(log.count(.backlog(2)) == 1 && log.count(.backlog(4)) == 1)
    #expect(values.bufferedCount == 4)
  }

  @Test func `R22 a subscription without a buffer has no pending updates`() {
    let source = BroadcastSource<Int>()
    let subscriptions = [
      source.publisher.subscribe { _ in }, source.publisher.subscribe({ _ in }, onEnd: {}),
      merge(source.publisher, source.publisher).subscribe { _ in }, Subscription {}, .ended,
    ]

    source.broadcast(1)

    #expect(subscriptions.allSatisfy { $0.pendingUpdates == 0 && $0.droppedCount == 0 })
  }
}
