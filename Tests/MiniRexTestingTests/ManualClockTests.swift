import Dispatch
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ManualClockTests {
  let clock = ManualClock()
  let events = Shared<[String]>([])

  /// Schedules an action that stores the name and the time.
  private func note(_ name: String, at seconds: Int) -> Subscription {
    clock.schedule(at: .init(offset: .seconds(seconds))) { [clock, events] in
      events.append("\(name)@\(clock.now.offset.components.seconds)")
    }
  }

  @Test func `advance runs actions by deadline, then by scheduling order, each at its time`() {
    let subscriptions = [note("c", at: 2), note("a", at: 1), note("d", at: 2), note("b", at: 1)]
    #expect(clock.sleeperCount == 4)

    clock.advance(by: .seconds(3))

    #expect(events.value == ["a@1", "b@1", "c@2", "d@2"])
    #expect(clock.now.offset == .seconds(3))
    #expect(clock.sleeperCount == 0)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `an action scheduled by an action runs in the same advance if it is due`() {
    let bag = SubscriptionBag()
    clock.schedule(at: .init(offset: .seconds(1))) { [clock, events] in
      for seconds in [1, 2, 4] {
        clock.schedule(at: .init(offset: .seconds(seconds))) {
          events.append("\(seconds)@\(clock.now.offset.components.seconds)")
        }.store(in: bag)
      }
    }.store(in: bag)

    clock.advance(by: .seconds(3))

    #expect(events.value == ["1@1", "2@2"])
    #expect(clock.sleeperCount == 1)
  }

  @Test func `a past deadline is due in the next advance, even by zero`() {
    clock.advance(by: .seconds(5))
    let subscription = note("late", at: 1)
    #expect(events.value == [])

    clock.advance(by: .zero)

    #expect(events.value == ["late@5"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `advance to an instant never decreases the time`() {
    let subscription = note("a", at: 2)
    clock.advance(to: .init(offset: .seconds(2)))
    #expect(events.value == ["a@2"])

    clock.advance(to: .init(offset: .seconds(1)))

    #expect(clock.now.offset == .seconds(2))
    withExtendedLifetime(subscription) {}
  }

  @Test func `advanceToNext runs only the actions of the next deadline`() {
    let subscriptions = [note("a", at: 1), note("b", at: 1), note("c", at: 7)]
    #expect(clock.advanceToNext())
    #expect(events.value == ["a@1", "b@1"])
    #expect(clock.advanceToNext())
    #expect(events.value.last == "c@7")
    #expect(!clock.advanceToNext())
    #expect(clock.now.offset == .seconds(7))
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a canceled action never runs, and its captures are released immediately`() {
    weak var captured: Shared<[String]>?
    let subscription = {
      let events = Shared<[String]>([])
      captured = events
      return clock.schedule(at: .init(offset: .seconds(1))) { events.append("called") }
    }()
    #expect(captured != nil)

    subscription.invalidate()
    subscription.invalidate()

    #expect(captured == nil)
    #expect(clock.sleeperCount == 0)
    clock.advance(by: .seconds(2))
  }

  @Test func `an action may cancel a later action of the same advance`() {
    let second = note("second", at: 2)
    let first = clock.schedule(at: .init(offset: .seconds(1))) { second.invalidate() }
    clock.advance(by: .seconds(2))
    #expect(events.value == [])
    withExtendedLifetime(first) {}
  }

  @Test(arguments: 1...20)
  func `actions that are added, canceled, and run at random keep their order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let deadlines = Int.random(in: 1...50, using: &random)
    let called = Shared<[Int]>([])
    var pending: [(deadline: Int, number: Int, subscription: Subscription)] = []
    var expected: [Int] = []
    var now = 0
    for number in 0..<600 {
      let deadline = now + Int.random(in: 0...deadlines, using: &random)
      let subscription = clock.schedule(at: .init(offset: .seconds(deadline))) {
        called.append(number)
      }
      pending.append((deadline, number, subscription))
      // A greater seed cancels more actions.
      if Int.random(in: 0...20, using: &random) < seed {
        pending.remove(at: .random(in: pending.indices, using: &random)).subscription.invalidate()
      }
      if number % 100 == 99 {
        now += deadlines / 3
        clock.advance(to: .init(offset: .seconds(now)))
        expected += pending.filter { $0.deadline <= now }
          .sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }.map(\.number)
        pending.removeAll { $0.deadline <= now }
      }
      if clock.sleeperCount != pending.count || called.value != expected {
        Issue.record("\(clock.sleeperCount) sleepers, \(pending.count) expected, after \(number)")
        return
      }
    }
    let next = pending.map(\.deadline).min()
    #expect(clock.advanceToNext() == (next != nil))
    #expect(clock.now.offset == .seconds(next ?? now))
  }

  @Test func `R9 a deinit of a released action may call the clock`() {
    let nosy = Witness { [clock, events] in events.append("\(clock.sleeperCount)") }
    let subscription = clock.schedule(at: .init(offset: .seconds(1))) { [nosy] in _ = nosy }
    _ = consume nosy
    subscription.invalidate()
    #expect(events.value == ["0"])
  }

  @Test func `an advance inside an action returns immediately and extends the current advance`() {
    let subscriptions = [note("b", at: 2), note("d", at: 9)]
    let first = clock.schedule(at: .init(offset: .seconds(1))) { [clock, events] in
      clock.advance(by: .seconds(8))
      events.append("a@\(clock.now.offset.components.seconds)")
    }

    clock.advance(by: .seconds(1))

    #expect(events.value == ["a@1", "b@2", "d@9"])
    #expect(clock.now.offset == .seconds(9))
    withExtendedLifetime((subscriptions, first)) {}
  }

  @Test func `concurrent advances add up, and each returns after its actions`() {
    let bag = SubscriptionBag()
    let called = Shared<[String]>([])
    for step in 1...400 {
      clock.schedule(at: .init(offset: .seconds(step))) { called.append("\(step)") }
        .store(in: bag)
    }
    onThreads(4) { [clock, events] _ in
      for round in 1...100 {
        clock.advance(by: .seconds(1))
        if called.value.count < round { events.append("early") }
      }
    }

    #expect(called.value == (1...400).map { "\($0)" })
    #expect(clock.now.offset == .seconds(400))
    #expect(events.value == [])
  }

  @Test func `R25 an advance that follows another returns after the due actions`() {
    let isInside = DispatchSemaphore(value: 0)
    let subscription = clock.schedule(at: .init(offset: .seconds(1))) { [events] in
      isInside.signal()
      // Usually long enough for the other thread to wait. The result is the same if it is not.
      for _ in 0..<200_000 { _ = events.value.count }
      events.append("called")
    }
    onThreads(2) { [clock, events] index in
      if index == 0 { return clock.advance(by: .seconds(1)) }
      isInside.waitAtMost()
      clock.advance(by: .zero)
      events.append("followed")
    }
    #expect(events.value == ["called", "followed"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `concurrently canceled actions are removed from the clock`() {
    onThreads(4) { [clock] index in
      for round in 0..<500 {
        let subscription = clock.schedule(at: .init(offset: .seconds(round % 7))) {}
        if index == 0 { clock.advance(by: .milliseconds(10)) }
        subscription.invalidate()
      }
    }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a sleeping task resumes at its deadline`() async throws {
    let sleeping = Task { [clock] in try await clock.sleep(for: .seconds(2)) }
    await clock.waitForSleepers(1)
    await clock.advance(by: .seconds(1))
    #expect(clock.sleeperCount == 1)
    await clock.advance(by: .seconds(1))
    try await sleeping.finished()
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a sleep until a past deadline does not suspend`() async throws {
    try await clock.sleep(until: clock.now)
    try await clock.sleep(for: .seconds(-1))
  }

  @Test func `a canceled sleep throws before and during the suspension`() async {
    await withThrowingTaskGroup(of: Void.self) { [clock] group in
      group.cancelAll()
      group.addTask { try await clock.sleep(for: .seconds(1)) }
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    let sleeping = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(1)
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.finished() }
    #expect(clock.sleeperCount == 0)
    await clock.advance(by: .seconds(2))
  }

  @Test func `a sleeper canceled after waitForSleepers is removed synchronously`() async {
    for _ in 0..<scaled(5_000) {
      let clock = ManualClock()
      let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.waitForSleepers(1)
      sleeping.cancel()
      #expect(clock.sleeperCount == 0)
      _ = await sleeping.result
    }
  }

  @Test func `a sleep ends once when its cancellation races with its deadline`() async {
    for _ in 0..<500 {
      let clock = ManualClock()
      let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
      async let cancelled: Void = { sleeping.cancel() }()
      await clock.advance(by: .seconds(1))
      await cancelled
      _ = await sleeping.result
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `advance with a number of sleepers waits before it advances`() async throws {
    for _ in 0..<100 {
      let clock = ManualClock()
      let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.advance(by: .seconds(10), sleepers: 1)
      #expect(clock.now.offset == .seconds(10))
      try await sleeping.finished()
    }
  }

  @Test func `a task that sleeps in a loop resumes at each deadline`() async {
    for _ in 0..<100 {
      let clock = ManualClock()
      let events = Shared<[String]>([])
      let polling = Task {
        while true {
          try await clock.sleep(for: .seconds(1))
          events.append("\(clock.now.offset.components.seconds)")
        }
      }
      for _ in 1...3 { await clock.advance(by: .seconds(1), sleepers: 1) }
      await clock.waitForSleepers(1)
      #expect(events.value == ["1", "2", "3"])
      polling.cancel()
      _ = await polling.result
    }
  }

  @Test func `an async advance without sleepers ends when its task is canceled`() async {
    let advancing = Task { [clock] in await clock.advance(by: .seconds(1), sleepers: 1) }
    advancing.cancel()
    await advancing.finished()
    #expect(clock.now.offset == .zero)
    await clock.waitForSleepers(0)
  }

  @Test func `an async advance follows an advance on another thread`() async {
    let subscription = clock.schedule(at: .init(offset: .seconds(1))) { [events] in
      events.append("a")
    }
    await withTaskGroup { [clock] group in
      for _ in 0..<20 { group.addTask { await clock.advance(by: .seconds(1)) } }
    }
    #expect(events.value == ["a"])
    #expect(clock.now.offset == .seconds(20))
    withExtendedLifetime(subscription) {}
  }

  @Test func `instants compare and subtract by offset`() {
    let start = ManualClock.Instant(offset: .seconds(1))
    #expect(start.advanced(by: .seconds(2)) == .init(offset: .seconds(3)))
    #expect(start.duration(to: .init(offset: .zero)) == .seconds(-1))
    #expect(start < start.advanced(by: .nanoseconds(1)))
    #expect(clock.minimumResolution == .zero)
  }
}
