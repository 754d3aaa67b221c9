import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The tests of the rules of `perform`.
@Suite(.light) struct PerformTests {
  @Test func `W1 a job starts after its commit`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let seen = Shared<[Bool]>([])
    let working = store.perform(\.charges, ShopAction.charges, atMost: 4) {
      [weak store] charge, attempt in
      seen.append(store?.state.charges[id: charge.id]?.attempts == attempt)
      return try await bench.work(charge, attempt)
    }
    let events = Recorder(store.events)

    store.send(.ordered(Charge(id: 1)))
    await bench.finish(1)
    await until { store.state.charges.isEmpty }

    #expect(seen.value == [true])
    #expect(events.updates.compactMap(\.action).first == .ordered(Charge(id: 1)))
    withExtendedLifetime(working) {}
  }

  @Test func `W2 the returned action removes the job in one commit`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)
    let events = Recorder(store.events)

    store.send(.ordered(Charge(id: 1)))
    await bench.finish(1)
    await until { store.state.charges.isEmpty }
    await working.invalidateAndWait()

    #expect(
      events.updates.compactMap(\.action) == [
        .ordered(Charge(id: 1)), .charges(.began(id: 1, attempt: 1, at: time.now)), .charged(1),
      ])
    #expect(store.state.receipts == [1])
  }

  @Test func `W2 the next commit removes a job that the returned action kept`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)
    let events = Recorder(store.events)

    store.send(.ordered(Charge(id: 1)))
    await bench.finish(1, with: .noted(1))
    await until { store.state.charges.isEmpty }
    await working.invalidateAndWait()

    #expect(
      events.updates.compactMap(\.action).suffix(2) == [
        .noted(1), .charges(.finished(id: 1, attempt: 1)),
      ])
  }

  @Test func `W2 a job that its own result adds again runs again`() async {
    let reducer: Reducer<Shop, ShopAction> = { shop, action in
      let effect = selling(&shop, action)
      if action == .charged(1), shop.receipts.count < 3 { shop.charges.add(Charge(id: 1)) }
      return effect
    }
    let store = Store(Shop(), reducer: reducer)
    let working = store.perform(\.charges, ShopAction.charges, atMost: 4) { charge, _ in
      .charged(charge.id)
    }

    store.send(.ordered(Charge(id: 1)))

    await until { store.state.receipts.count == 3 }
    await until { store.state.charges.isEmpty }
    withExtendedLifetime(working) {}
  }

  @Test func `W3 at most four jobs run, in the order of addition`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    for id in 1...10 { store.send(.ordered(Charge(id: id))) }
    let working = store.charge(bench)

    await until { bench.running == 4 }
    let first = bench.starts.sorted()
    for id in 1...10 { await bench.finish(id) }
    await until { store.state.charges.isEmpty }

    #expect(first == ["1.1", "2.1", "3.1", "4.1"])
    #expect(bench.starts.count == 10)
    #expect(bench.most == 4)
    withExtendedLifetime(working) {}
  }

  @Test func `W3 one run at a time keeps the order of addition`() async {
    let store = Store(Shop(), reducer: selling)
    let order = Shared<[Int]>([])
    let working = store.perform(\.charges, ShopAction.charges, atMost: 1) { charge, _ in
      order.append(charge.id)
      return .charged(charge.id)
    }

    for id in 1...500 { store.send(.ordered(Charge(id: id))) }
    await until { store.state.charges.isEmpty }

    #expect(order.value == Array(1...500))
    withExtendedLifetime(working) {}
  }

  @Test func `W3 jobs of one key run one after another, concurrently with other keys`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    for id in 1...3 { store.send(.ordered(Charge(id: id, customer: "Ann"))) }
    for id in 4...5 { store.send(.ordered(Charge(id: id, customer: "Bob"))) }
    let working = store.charge(bench, order: .serially(by: \.customer))

    await until { bench.running == 2 }
    #expect(bench.starts.sorted() == ["1.1", "4.1"])
    for id in [1, 2, 4, 3, 5] { await bench.finish(id) }
    await until { store.state.charges.isEmpty }

    #expect(!bench.hasOverlap)
    #expect(bench.starts.filter { $0 < "4" } == ["1.1", "2.1", "3.1"])
    withExtendedLifetime(working) {}
  }

  @Test func `W3 a failed job keeps the turn of its key until it is given up`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2)))
    let working = store.charge(
      bench, order: .serially(by: \.customer), retrying: .constant(.seconds(5), attempts: 2),
      at: time)

    await bench.fail(1)
    await until { store.state.charges.counts.waiting == 1 }
    #expect(bench.starts == ["1.1"])
    time.advance(by: .seconds(5))
    await bench.fail(1)
    await bench.finish(2)
    await until { store.state.charges.count == 1 }

    #expect(bench.starts == ["1.1", "1.2", "2.1"])
    #expect(store.state.charges[id: 1]?.status == .failed)
    withExtendedLifetime(working) {}
  }

  @Test func `W3 a job keeps its place when it is replaced before the commit is delivered`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    for id in 1...3 { store.send(.ordered(Charge(id: id))) }
    let working = store.charge(bench, atMost: 1)
    let (isBlocked, gate) = (Shared(false), Gate())
    let blocking = store.events.subscribe { event in
      if event.action != .noted(9) { return }
      isBlocked.value = true
      gate.wait()
    }
    let thread = Thread { store.send(.noted(9)) }
    thread.start()
    await until { isBlocked.value }

    store.send(.replaced(Charge(id: 2, amount: 7), .beforeFirstAttempt))
    await bench.finish(1)
    await until { !store.hasRunningJobs }
    gate.open()
    await bench.finish(2)
    await bench.finish(3)
    await until { store.state.charges.isEmpty }

    #expect(bench.starts == ["1.1", "2.1", "3.1"])
    withExtendedLifetime((working, blocking)) {}
  }

  @Test func `W3 a job that fails before its commits are delivered keeps the turn of its key`()
    async
  {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    for (id, customer) in [(1, "Ann"), (2, "Bob"), (3, "Bob")] {
      store.send(.ordered(Charge(id: id, customer: customer)))
    }
    let working = store.charge(
      bench, atMost: 1, order: .serially(by: \.customer), retrying: .constant(.zero))
    let (isBlocked, gate) = (Shared(false), Gate())
    let blocking = store.events.subscribe { event in
      if event.action != .noted(9) { return }
      isBlocked.value = true
      gate.wait()
    }
    // This thread delivers, so the commits of the jobs are reduced, and not yet delivered.
    let thread = Thread { store.send(.noted(9)) }
    thread.start()
    await until { isBlocked.value }

    await bench.finish(1)
    await bench.fail(2)
    await until { store.state.charges[id: 2]?.failure != nil }
    gate.open()
    await bench.finish(2)
    await bench.finish(3)
    await until { store.state.charges.isEmpty }

    #expect(bench.starts == ["1.1", "2.1", "2.2", "3.1"])
    withExtendedLifetime((working, blocking)) {}
  }

  @Test func `W4 jobs of an earlier process run again, with their attempts and times`() async {
    let time = TestTime()
    var shop = Shop()
    for id in 1...3 { shop.charges.add(Charge(id: id)) }
    shop.charges.add(Charge(id: 4), notBefore: time.after(.seconds(10)))
    shop.charges.reduce(.began(id: 2, attempt: 1, at: time.now))
    shop.charges.reduce(.began(id: 3, attempt: 1, at: time.now))
    let failure = JobFailure(attempt: 1, description: "no", time: time.now)
    shop.charges.reduce(.failed(id: 3, failure, retryAt: time.after(.seconds(20))))
    let store = Store(shop, reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)

    await until { bench.running == 2 }
    #expect(bench.starts.sorted() == ["1.1", "2.2"])
    time.advance(by: .seconds(10))
    await until { bench.running == 3 }
    time.advance(by: .seconds(10))
    await until { bench.running == 4 }

    #expect(bench.starts.suffix(2) == ["4.1", "3.2"])
    withExtendedLifetime(working) {}
  }

  @Test func `W5 a failure is a commit with the attempt, the error, and the next time`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)
    store.send(.ordered(Charge(id: 1)))

    for (attempt, delay) in [1, 2, 4, 8].enumerated() {
      await bench.fail(1)
      await until { store.state.charges.counts.waiting == 1 }
      let entry = store.state.charges[id: 1]
      #expect(entry?.status == .waiting(until: time.after(.seconds(delay))))
      #expect(
        entry?.failure
          == JobFailure(attempt: attempt + 1, description: "declined", time: time.now))
      time.advance(by: .seconds(delay) - .milliseconds(1))
      #expect(bench.starts.count == attempt + 1)
      time.advance(by: .milliseconds(1))
      await until { bench.starts.count == attempt + 2 }
    }

    #expect(bench.starts == ["1.1", "1.2", "1.3", "1.4", "1.5"])
    withExtendedLifetime(working) {}
  }

  @Test func `W5 the error decides about the delay and the last attempt`() async {
    struct Busy: Error {}
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(
      bench, retrying: JobRetry { error, _ in error is Busy ? .seconds(60) : nil }, at: time)
    store.send(.ordered(Charge(id: 1)))

    await bench.fail(1, with: Busy())
    await until { store.state.charges.counts.waiting == 1 }
    #expect(store.state.charges[id: 1]?.status == .waiting(until: time.after(.seconds(60))))
    time.advance(by: .seconds(60))
    await bench.fail(1)

    await until { store.state.charges.counts.failed == 1 }
    withExtendedLifetime(working) {}
  }

  @Test func `W5 a long description is shortened`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))

    await bench.fail(1, with: Declined(description: String(repeating: "x", count: 10_000)))

    await until { store.state.charges[id: 1]?.failure?.description.count == 500 }
    withExtendedLifetime(working) {}
  }

  @Test func `W6 a job that was given up stays until retry or remove`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, retrying: .never, at: time)
    for id in 1...2 { store.send(.ordered(Charge(id: id))) }

    for id in 1...2 { await bench.fail(id) }
    await until { store.state.charges.counts.failed == 2 }
    time.advance(by: .seconds(1_000_000))
    #expect(bench.starts.count == 2)
    #expect(store.state.charges[id: 1]?.failure?.description == "declined")
    store.send(.charges(.retry(1)))
    store.send(.charges(.remove(2)))
    await bench.finish(1)
    await until { store.state.charges.isEmpty }

    #expect(bench.starts.last == "1.2")
    #expect(store.state.receipts == [1])
    withExtendedLifetime(working) {}
  }

  @Test func `W7 removing a job cancels its run and drops its action`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }

    store.send(.dropped(1))

    #expect(bench.cancelled == [1])
    await bench.finish(1)
    await working.invalidateAndWait()
    #expect(store.state.receipts == [])
  }

  @Test func `W7 undo and a replaced state cancel the runs of the removed jobs`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let history = History(of: store) { $0.cause.isOrder }
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2)))
    await until { bench.running == 2 }

    #expect(history.undo())
    #expect(bench.cancelled == [2])
    store.send(.reset)

    #expect(bench.cancelled == [2, 1])
    for id in 1...2 { await bench.finish(id) }
    await working.invalidateAndWait()
    #expect(store.state.receipts == [])
  }

  @Test func `W7 a restored job runs again, after its canceled run has returned`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }
    let history = History(of: store)
    store.send(.dropped(1))

    #expect(history.undo())

    #expect(store.state.charges.count == 1)
    #expect(bench.starts == ["1.1"])
    await bench.finish(1)
    await until { bench.starts.count == 2 }
    await bench.finish(1)
    await until { store.state.charges.isEmpty }
    #expect(bench.starts == ["1.1", "1.2"])
    #expect(store.state.receipts == [1])
    withExtendedLifetime(working) {}
  }

  @Test func `W7 an undo by a subscriber of the beginning begins the job again`() async {
    var shop = Shop()
    shop.charges.add(Charge(id: 1))
    shop.charges.add(Charge(id: 2))
    // An earlier process has begun it.
    shop.charges.reduce(.began(id: 2, attempt: 1, at: UnixTime(milliseconds: 0)))
    let store = Store(shop, reducer: selling)
    let bench = Bench()
    let history = History(of: store)
    let begins = Shared(0)
    let undoing = store.events.subscribe { event in
      if case .charges(.began(2, _, _)) = event.action, begins.increment() == 1 { history.undo() }
    }
    // The beginning of job 2 is not a part of a delivery, so the undo is delivered before it returns.
    let working = store.charge(bench, atMost: 1)
    await bench.finish(1)
    await bench.finish(2)

    await until { store.state.charges.isEmpty }
    #expect(store.state.receipts == [1, 2])
    #expect(begins.value == 2)
    withExtendedLifetime((working, undoing)) {}
  }

  @Test func `W7 a canceled run keeps its place until it has returned`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let working = store.charge(bench, atMost: 1)
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2)))
    await until { bench.running == 1 }

    store.send(.dropped(1))

    #expect(bench.starts == ["1.1"])
    await bench.finish(1)
    await bench.finish(2)
    await until { store.state.charges.isEmpty }
    #expect(bench.most == 1)
    withExtendedLifetime(working) {}
  }

  @Test func `W8 a job starts at its time, and never early`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)
    store.send(.ordered(Charge(id: 1), notBefore: time.after(.seconds(90))))
    store.send(.ordered(Charge(id: 2), notBefore: time.after(.seconds(30))))

    time.advance(by: .seconds(30) - .milliseconds(1))
    #expect(store.state.charges.counts.waiting == 2)
    time.advance(by: .milliseconds(1))
    #expect(store.state.charges.counts.running == 1)
    time.advance(by: .seconds(60) - .milliseconds(1))
    #expect(store.state.charges.counts.waiting == 1)
    time.advance(by: .milliseconds(1))
    #expect(store.state.charges.counts.running == 2)

    await until { bench.running == 2 }
    withExtendedLifetime(working) {}
  }

  @Test func `W8 one timer serves all jobs, and an idle perform has none`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, at: time)
    #expect(time.clock.sleeperCount == 0)

    for id in 1...100 {
      store.send(.ordered(Charge(id: id), notBefore: time.after(.seconds(id))))
    }
    #expect(time.clock.sleeperCount == 1)
    store.send(.reset)

    #expect(time.clock.sleeperCount == 0)
    withExtendedLifetime(working) {}
  }

  @Test(arguments: 1...4)
  func `W8 a job starts at its time although the clock moves while its timer is set`(call: Int) {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let (calls, bench) = (Shared(0), Bench())
    let working = store.perform(
      \.charges, ShopAction.charges, atMost: 1, clock: time.clock,
      now: {
        let now = time.now
        if calls.increment() == call { time.advance(by: .milliseconds(500)) }
        return now
      }
    ) { try await bench.work($0, $1) }
    calls.value = 0

    store.send(.ordered(Charge(id: 1), notBefore: time.after(.milliseconds(500))))
    if calls.value < call { time.advance(by: .milliseconds(500)) }
    time.advance(by: .zero)

    #expect(store.state.charges.counts.running == 1)
    withExtendedLifetime(working) {}
  }

  @Test func `W8 a date that jumps forward starts a job within a second`() {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let working = store.charge(Bench(), at: time)
    store.send(.ordered(Charge(id: 1), notBefore: time.after(.seconds(3_600))))

    time.jump.value = .seconds(3_600)
    time.advance(by: .seconds(1))

    #expect(store.state.charges.counts.running == 1)
    withExtendedLifetime(working) {}
  }

  @Test func `W8 a date that jumps back starts a job by the date, not early`() {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let working = store.charge(Bench(), at: time)
    store.send(.ordered(Charge(id: 1), notBefore: time.after(.seconds(10))))

    time.jump.value = .seconds(-10)
    time.advance(by: .seconds(19))
    #expect(store.state.charges.counts.running == 0)
    time.advance(by: .seconds(1))

    #expect(store.state.charges.counts.running == 1)
    withExtendedLifetime(working) {}
  }

  @Test func `W9 a job that runs is not replaced unless always, which cancels its run`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1, amount: 1)))
    await until { bench.running == 1 }

    store.send(.ordered(Charge(id: 1, amount: 2)))
    #expect(store.state.charges[id: 1]?.job.amount == 1)
    #expect(bench.cancelled == [])
    store.send(.replaced(Charge(id: 1, amount: 3), .always))

    #expect(bench.cancelled == [1])
    await until { bench.starts.count == 2 }
    #expect(store.state.charges[id: 1]?.job.amount == 3)
    await bench.finish(1)
    await until { store.state.charges.isEmpty }
    #expect(bench.starts == ["1.1", "1.1"])
    #expect(store.state.receipts == [1])
    withExtendedLifetime(working) {}
  }

  @Test func `W10 invalidate cancels the runs and commits nothing`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }
    let events = Recorder(store.events)

    working.invalidate()

    #expect(bench.cancelled == [1])
    await until { bench.running == 0 }
    store.send(.ordered(Charge(id: 2)))
    #expect(events.updates.compactMap(\.action) == [.ordered(Charge(id: 2))])
    #expect(store.state.charges.count == 2)
    #expect(!working.isSubscribed)
  }

  @Test func `W10 invalidateAndWait returns when the runs have returned`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let working = store.charge(bench)
    store.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }
    let hasReturned = Shared(false)

    let waiting = Task {
      await working.invalidateAndWait()
      hasReturned.value = true
    }
    await until { bench.cancelled == [1] }
    #expect(!hasReturned.value)
    await bench.finish(1)
    await waiting.finished()

    #expect(bench.running == 0)
    #expect(store.state.receipts == [])
  }

  @Test func `W10 a job may cancel its own perform and wait`() async {
    let store = Store(Shop(), reducer: selling)
    let bag = Shared<Subscription?>(nil)
    let hasReturned = Shared(false)
    bag.value = store.perform(\.charges, ShopAction.charges, atMost: 4) { charge, _ in
      await bag.value?.invalidateAndWait()
      hasReturned.value = true
      return .charged(charge.id)
    }

    store.send(.ordered(Charge(id: 1)))

    await until { hasReturned.value }
    #expect(store.state.charges.count == 1)
  }

  @Test func `W10 releasing the store ends the runs and the subscription`() async {
    let bench = Bench()
    var store: Store? = Store(Shop(), reducer: selling)
    let working = store?.charge(bench)
    store?.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }

    store = nil

    await until { bench.cancelled == [1] }
    #expect(working?.isSubscribed == false)
    await working?.invalidateAndWait()
    #expect(bench.running == 0)
  }

  @Test func `W10 a perform after another has ended continues its jobs`() async {
    let store = Store(Shop(), reducer: selling)
    let first = Bench()
    let bench = Bench()
    let working = store.charge(first)
    store.send(.ordered(Charge(id: 1)))
    await until { first.running == 1 }
    await working.invalidateAndWait()

    let again = store.charge(bench)
    await bench.finish(1)

    await until { store.state.charges.isEmpty }
    #expect(bench.starts == ["1.2"])
    withExtendedLifetime(again) {}
  }

  @Test func `W10 a second perform of the same jobs traps with advice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = Store(Shop(), reducer: selling)
      let first = store.charge(Bench())
      let second = store.charge(Bench())
      withExtendedLifetime((first, second)) {}
    }
    let scoped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = Store(Mall(), reducer: trading)
      let first = store.perform(\.shop.charges, { MallAction.shop(.charges($0)) }, atMost: 1) {
        .shop(.charged($0.id + $1))
      }
      let shop = store.scope(\.shop) { MallAction.shop($0) }
      let second = shop.charge(Bench())
      withExtendedLifetime((first, second)) {}
    }

    #expect(advice(result).contains("are already performed. Retain one subscription"))
    #expect(advice(scoped).contains("are already performed. Retain one subscription"))
  }

  @Test func `a limit below 1 and a reducer that ignores the jobs trap with advice`() async {
    let limit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Store(Shop(), reducer: selling).charge(Bench(), atMost: 0)
    }
    let reducer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = Store(Shop()) { (shop: inout Shop, action: ShopAction) in
        if case .charges = action { return .none }
        return selling(&shop, action)
      }
      let working = store.charge(Bench())
      store.send(.ordered(Charge(id: 1)))
      withExtendedLifetime(working) {}
    }

    #expect(advice(limit).contains("'atMost' requires a count of 1 or more, not 0."))
    #expect(advice(reducer).contains("Apply it in the reducer"))
  }

  @Test func `jobs in a scope are performed, and end with its child`() async {
    let store = Store(Mall(), reducer: trading)
    let shop = store.scope(\.shop) { MallAction.shop($0) }
    let corner = store.scope(ifPresent: \.corner) { MallAction.corner($0) }
    let (bench, other) = (Bench(), Bench())
    let working = [shop.charge(bench), corner?.charge(other)].compactMap(\.self)
    shop.send(.ordered(Charge(id: 1)))
    corner?.send(.ordered(Charge(id: 1)))

    await bench.finish(1)
    await until { shop.state.charges.isEmpty }
    await until { other.running == 1 }
    store.send(.closed)

    await until { other.cancelled == [1] }
    #expect(working.map(\.isSubscribed) == [true, false])
  }

  @Test func `W11 a live query lists the jobs with their status`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let failed = Recorder(store.live(\.charges).filter { $0.status == .failed }.publisher)
    let all = Recorder(store.live(\.charges).updates)
    let working = store.charge(bench, atMost: 1, retrying: .never, at: time)
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2)))
    store.send(.ordered(Charge(id: 3), notBefore: time.after(.seconds(1))))

    await bench.fail(1)
    _ = await failed.next(2)

    #expect(failed.updates.map { $0.map(\.id) } == [[], [1]])
    // The next job begins after that delivery.
    await until {
      store.state.charges.counts == JobCounts(waiting: 1, running: 1, failed: 1)
    }
    await until { all.updates.count == 7 }
    await working.invalidateAndWait()
    var rows: [JobEntry<Charge>] = []
    for update in all.updates { update.apply(to: &rows) }
    #expect(rows == Array(store.state.charges))
    #expect(all.updates.count == 7)
  }

  @Test func `W12 a day of retries runs in virtual time`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let attempts = Shared(0)
    let working = store.perform(
      \.charges, ShopAction.charges, atMost: 1,
      retrying: .exponential(from: .seconds(1), upTo: .seconds(300)), clock: time.clock,
      now: { time.now }
    ) { _, attempt in
      attempts.value = attempt
      throw Declined()
    }
    let start = time.now
    store.send(.ordered(Charge(id: 1)))

    while start.duration(to: time.now) < .seconds(86_400) {
      await until { store.state.charges.counts.waiting == 1 }
      guard case .waiting(let next) = store.state.charges[id: 1]?.status else { return }
      time.advance(by: time.now.duration(to: next))
    }

    // 9 attempts until the delay reaches 300 seconds, after 511 seconds.
    #expect((290...300).contains(attempts.value))
    await working.invalidateAndWait()
  }
}

/// A state with shops.
struct Mall: Sendable, Equatable {
  var shop = Shop()
  var corner: Shop? = Shop()
}

enum MallAction: Sendable {
  case shop(ShopAction)
  case corner(ShopAction)
  case closed
}

let trading: Reducer<Mall, MallAction> = { mall, action in
  switch action {
  case .shop(let action): return .reduce(&mall, \.shop, action, by: selling) { .shop($0) }
  case .corner(let action):
    return .reduce(&mall, ifPresent: \.corner, action, by: selling) { .corner($0) }
  case .closed:
    mall.corner = nil
    return .none
  }
}

extension CommitCause where Action == ShopAction {
  fileprivate var isOrder: Bool {
    if case .action(.ordered) = self { true } else { false }
  }
}

extension PerformTests {
  @Test func `a result does not make the callbacks of its commit inherit a cancellation`() async {
    let store = Store(Shop(), reducer: selling)
    let isCancelled = Shared<[Bool]>([])
    let working = store.perform(\.charges, ShopAction.charges, atMost: 1) { charge, _ in
      .charged(charge.id)
    }
    // A later subscriber than perform, which sees the removal first.
    let watching = store.events.subscribe { event in
      if event.action == .charged(1) { isCancelled.append(Task.isCancelled) }
    }

    store.send(.ordered(Charge(id: 1)))
    await until { store.state.charges.isEmpty }
    await working.invalidateAndWait()

    #expect(isCancelled.value == [false])
    withExtendedLifetime(watching) {}
  }
}

/// Many threads that add, remove, replace, and undo jobs while they are performed.
@Suite(.heavy, .serialized) struct JobsStormTests {
  @Test func `W2 W3 W7 each job that stays is charged once, while threads remove and restore jobs`()
    async
  {
    let store = Store(Shop(), reducer: selling)
    let history = History(of: store, limit: 20)
    let (running, most) = (Shared(0), Shared(0))
    let ids = Shared<[Int: Int]>([:])
    let hasOverlap = Shared(false)
    let perform: @Sendable () -> Subscription = {
      store.perform(
        \.charges, ShopAction.charges, atMost: 3, order: .serially { $0.id % 7 },
        retrying: .constant(.zero)
      ) { charge, attempt in
        let now = running.increment()
        most.change { $0 = max($0, now) }
        let beside = ids.change { ids in
          ids[charge.id % 7, default: 0] += 1
          return ids[charge.id % 7, default: 0]
        }
        if beside > 1 { hasOverlap.value = true }
        await Task.yield()
        ids.change { $0[charge.id % 7, default: 0] -= 1 }
        running.increment(by: -1)
        if charge.id.isMultiple(of: 5), attempt == 1 { throw Declined() }
        return charge.id.isMultiple(of: 3) ? .noted(charge.id) : .charged(charge.id)
      }
    }
    let working = Shared(perform())
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(thread))
          for round in 0..<scaled(2_000) {
            let id = Int.random(in: 0..<50, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: store.send(.dropped(id))
            case 1: store.send(.replaced(Charge(id: id, amount: round), .always))
            case 2: history.undo()
            case 3: history.redo()
            case 4 where thread == 0:
              await working.value.invalidateAndWait()
              working.value = perform()
            default: store.send(.ordered(Charge(id: id)))
            }
            if round.isMultiple(of: 16) { await Task.yield() }
          }
        }
      }
    }
    await until(store.state.charges.counts) { $0 == JobCounts() }
    await working.value.invalidateAndWait()

    #expect(most.value <= 3)
    #expect(!hasOverlap.value)
    #expect(running.value == 0)
  }
}
