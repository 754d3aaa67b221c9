import Dispatch
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ManualClockTests {
  let clock = ManualClock()
  let events = Shared<[String]>([])

  /// Notes the name and the time when the deadline comes.
  private func note(_ name: String, at seconds: Int) -> Subscription {
    clock.schedule(at: .init(offset: .seconds(seconds))) { [clock, events] in
      events.append("\(name)@\(clock.now.offset.components.seconds)")
    }
  }

  @Test func `it calls in the order of deadlines, then of scheduling, each at its own time`() {
    let tokens = [note("c", at: 2), note("a", at: 1), note("d", at: 2), note("b", at: 1)]
    #expect(clock.sleeperCount == 4)

    clock.advance(by: .seconds(3))

    #expect(events.value == ["a@1", "b@1", "c@2", "d@2"])
    #expect(clock.now.offset == .seconds(3))
    #expect(clock.sleeperCount == 0)
    withExtendedLifetime(tokens) {}
  }

  @Test func `what a call schedules is called in the same advance if it is due`() {
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

  @Test func `a deadline that has passed waits for the next advance, which may be by zero`() {
    clock.advance(by: .seconds(5))
    let token = note("late", at: 1)
    #expect(events.value == [])

    clock.advance(by: .zero)

    #expect(events.value == ["late@5"])
    withExtendedLifetime(token) {}
  }

  @Test func `advance to goes to an instant, and never back`() {
    let token = note("a", at: 2)
    clock.advance(to: .init(offset: .seconds(2)))
    #expect(events.value == ["a@2"])

    clock.advance(to: .init(offset: .seconds(1)))

    #expect(clock.now.offset == .seconds(2))
    withExtendedLifetime(token) {}
  }

  @Test func `advanceToNext calls what is due at the next deadline only`() {
    let tokens = [note("a", at: 1), note("b", at: 1), note("c", at: 7)]
    #expect(clock.advanceToNext())
    #expect(events.value == ["a@1", "b@1"])
    #expect(clock.advanceToNext())
    #expect(events.value.last == "c@7")
    #expect(!clock.advanceToNext())
    #expect(clock.now.offset == .seconds(7))
    withExtendedLifetime(tokens) {}
  }

  @Test func `an ended token is not called, and what it holds is released at once`() {
    weak var captured: Shared<[String]>?
    let token = {
      let events = Shared<[String]>([])
      captured = events
      return clock.schedule(at: .init(offset: .seconds(1))) { events.append("called") }
    }()
    #expect(captured != nil)

    token.invalidate()
    token.invalidate()

    #expect(captured == nil)
    #expect(clock.sleeperCount == 0)
    clock.advance(by: .seconds(2))
  }

  @Test func `a call may end another that is due at the same time`() {
    let second = note("second", at: 2)
    let first = clock.schedule(at: .init(offset: .seconds(1))) { second.invalidate() }
    clock.advance(by: .seconds(2))
    #expect(events.value == [])
    withExtendedLifetime(first) {}
  }

  @Test func `R9 what is released by the clock may call the clock`() {
    let nosy = Witness { [clock, events] in events.append("\(clock.sleeperCount)") }
    let token = clock.schedule(at: .init(offset: .seconds(1))) { [nosy] in _ = nosy }
    _ = consume nosy
    token.invalidate()
    #expect(events.value == ["0"])
  }

  @Test func `an advance inside a call returns at once, and the one that runs goes on`() {
    let tokens = [note("b", at: 2), note("d", at: 9)]
    let first = clock.schedule(at: .init(offset: .seconds(1))) { [clock, events] in
      clock.advance(by: .seconds(8))
      events.append("a@\(clock.now.offset.components.seconds)")
    }

    clock.advance(by: .seconds(1))

    #expect(events.value == ["a@1", "b@2", "d@9"])
    #expect(clock.now.offset == .seconds(9))
    withExtendedLifetime((tokens, first)) {}
  }

  @Test func `advances on several threads add up, and each returns when its calls have returned`() {
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

  @Test func `R25 an advance that follows another returns when what is due has returned`() {
    let isInside = DispatchSemaphore(value: 0)
    let token = clock.schedule(at: .init(offset: .seconds(1))) { [events] in
      isInside.signal()
      // Long enough for the other thread to be waiting, most of the time; right in any case.
      for _ in 0..<200_000 { _ = events.value.count }
      events.append("called")
    }
    onThreads(2) { [clock, events] index in
      if index == 0 { return clock.advance(by: .seconds(1)) }
      isInside.wait()
      clock.advance(by: .zero)
      events.append("followed")
    }
    #expect(events.value == ["called", "followed"])
    withExtendedLifetime(token) {}
  }

  @Test func `scheduling and ending on several threads leaves nothing behind`() {
    onThreads(4) { [clock] index in
      for round in 0..<500 {
        let token = clock.schedule(at: .init(offset: .seconds(round % 7))) {}
        if index == 0 { clock.advance(by: .milliseconds(10)) }
        token.invalidate()
      }
    }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a task that sleeps is woken by its deadline`() async throws {
    let sleeping = Task { [clock] in try await clock.sleep(for: .seconds(2)) }
    await clock.waitForSleepers(1)
    await clock.advance(by: .seconds(1))
    #expect(clock.sleeperCount == 1)
    await clock.advance(by: .seconds(1))
    try await sleeping.value
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a sleep that is due does not suspend`() async throws {
    try await clock.sleep(until: clock.now)
    try await clock.sleep(for: .seconds(-1))
  }

  @Test func `a cancelled sleep throws, before, while and after it waits`() async {
    await withThrowingTaskGroup(of: Void.self) { [clock] group in
      group.cancelAll()
      group.addTask { try await clock.sleep(for: .seconds(1)) }
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    let sleeping = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(1)
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    #expect(clock.sleeperCount == 0)
    await clock.advance(by: .seconds(2))
  }

  @Test func `whoever has waited for a sleeper and cancels it finds it gone`() async {
    for _ in 0..<scaled(5_000) {
      let clock = ManualClock()
      let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.waitForSleepers(1)
      sleeping.cancel()
      #expect(clock.sleeperCount == 0)
      _ = await sleeping.result
    }
  }

  @Test func `cancelling races with waking, and the sleep ends once`() async {
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

  @Test(.timeLimit(.minutes(20)))
  func `with a number of sleepers, it waits for them before it moves, and not after`() async throws
  {
    for _ in 0..<100 {
      let clock = ManualClock()
      let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.advance(by: .seconds(10), sleepers: 1)
      #expect(clock.now.offset == .seconds(10))
      try await sleeping.value
    }
  }

  @Test func `a task that sleeps in a loop is moved from deadline to deadline`() async {
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

  @Test func `an async advance that waits in vain ends when its task is cancelled`() async {
    let advancing = Task { [clock] in await clock.advance(by: .seconds(1), sleepers: 1) }
    advancing.cancel()
    await advancing.value
    #expect(clock.now.offset == .zero)
    await clock.waitForSleepers(0)
  }

  @Test func `an async advance follows one on another thread`() async {
    let token = clock.schedule(at: .init(offset: .seconds(1))) { [events] in events.append("a") }
    await withTaskGroup { [clock] group in
      for _ in 0..<20 { group.addTask { await clock.advance(by: .seconds(1)) } }
    }
    #expect(events.value == ["a"])
    #expect(clock.now.offset == .seconds(20))
    withExtendedLifetime(token) {}
  }

  @Test func `instants are compared and counted by their offset`() {
    let start = ManualClock.Instant(offset: .seconds(1))
    #expect(start.advanced(by: .seconds(2)) == .init(offset: .seconds(3)))
    #expect(start.duration(to: .init(offset: .zero)) == .seconds(-1))
    #expect(start < start.advanced(by: .nanoseconds(1)))
    #expect(clock.minimumResolution == .zero)
  }

  @Test func `R23 a negative advance or number of sleepers stops the program with advice`() async {
    let advance = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManualClock().advance(by: .seconds(-1))
    }
    #expect(advance.says("'advance' takes a duration of 0 or more"))
    let asyncAdvance = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await ManualClock().advance(by: .seconds(-1), sleepers: 0)
    }
    #expect(asyncAdvance.says("'advance' takes a duration of 0 or more"))
    let wait = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ManualClock().waitForSleepers(-1)
    }
    #expect(wait.says("'waitForSleepers' takes a count of 0 or more"))
  }
}
