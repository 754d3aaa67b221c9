import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// A thread that is blocked while it delivers a commit of a store, so that further commits are not delivered.
final class BlockedDelivery: Sendable {
  private let gate = Gate()
  private let subscription: Subscription

  init<State: Sendable, Action: Sendable>(of store: Store<State, Action>, by action: Action) async {
    let isBlocked = Shared(false)
    subscription = store.events.subscribe { [gate] event in
      if event.action == nil || isBlocked.value { return }
      isBlocked.value = true
      gate.wait()
    }
    Thread { store.send(action) }.start()
    await until { isBlocked.value }
  }

  func end() { gate.open() }
}

extension PerformTests {
  @Test func `W2 an undo of a result performs the job again, although its commit is not delivered`()
    async
  {
    let store = Store(Shop(), reducer: selling)
    let history = History(of: store)
    let bench = Bench()
    let undos = Shared(0)
    let working = store.perform(
      \.charges,
      { action in
        // Between both commits of a result.
        if case .finished = action, undos.increment() == 1 { history.undo() }
        return .charges(action)
      }, atMost: 1
    ) { try await bench.work($0, $1) }
    store.send(.ordered(Charge(id: 1)))
    await until { bench.running == 1 }
    let delivery = await BlockedDelivery(of: store, by: .noted(9))

    await bench.finish(1)
    await until { !store.hasRunningJobs }
    let hasJob = !store.state.charges.isEmpty
    delivery.end()
    if hasJob { await bench.finish(1) }
    await until { store.state.charges.isEmpty }

    #expect(store.state.receipts == [9, 1])
    withExtendedLifetime(working) {}
  }

  @Test func `W7 a job of a removed child does not begin, although the removal is not delivered`()
    async
  {
    let store = Store(Mall(), reducer: trading)
    let corner = store.scope(ifPresent: \.corner) { MallAction.corner($0) }
    let bench = Bench()
    let working = corner?.charge(bench, atMost: 1)
    corner?.send(.ordered(Charge(id: 1)))
    corner?.send(.ordered(Charge(id: 2)))
    await until { bench.running == 1 }
    let delivery = await BlockedDelivery(of: store, by: .shop(.noted(9)))

    store.send(.closed)
    await bench.finish(1)
    await until { bench.running == 0 }
    await until { !store.hasRunningJobs || bench.starts.count == 2 }

    #expect(bench.starts == ["1.1"])
    delivery.end()
    await until { working?.isSubscribed == false }
    withExtendedLifetime(working) {}
  }

  @Test func `W8 a date that jumps back delays a job that waits for a run`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, atMost: 1, at: time)
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2), notBefore: time.after(.seconds(10))))
    time.advance(by: .seconds(10))
    store.send(.ordered(Charge(id: 3), notBefore: time.after(.seconds(60))))

    time.jump.value = .seconds(-10)
    await bench.finish(1)
    await until { !store.hasRunningJobs || bench.starts.count == 2 }
    #expect(bench.starts == ["1.1"])
    time.advance(by: .seconds(10))

    await bench.finish(2)
    await until { store.state.receipts == [1, 2] }
    withExtendedLifetime(working) {}
  }

  @Test func `W7 a canceled run passes its cancellation to no callback of the next job`() async {
    let store = Store(Shop(), reducer: selling)
    let bench = Bench(ignoresCancellation: true)
    let working = store.charge(bench, atMost: 1)
    let isCancelled = Shared<[Bool]>([])
    let watching = store.events.subscribe { event in
      if case .charges(.began(2, _, _)) = event.action { isCancelled.append(Task.isCancelled) }
    }
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2)))
    await until { bench.running == 1 }

    // The work returns after this delivery, which would otherwise deliver the beginning too.
    store.send(.dropped(1))
    await bench.finish(1)
    await bench.finish(2)
    await until { store.state.receipts == [2] }

    #expect(isCancelled.value == [false])
    withExtendedLifetime((working, watching)) {}
  }
}
