import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private struct Oops: Error, Hashable, Codable {}

extension StoreContractTests {
  @Test func `S32 a promise resolves only while pending, and its first result wins`() {
    var promise = Promise<Int, Oops>.idle
    #expect(promise.isIdle && !promise.isPending && !promise.isResolved)
    let early = promise.resolve(.success(1))

    let begun = [promise.begin(), promise.begin()]
    #expect(promise.isPending && !promise.isResolved)
    var copy = promise
    let resolved = [promise.resolve(.success(1)), promise.resolve(.failure(Oops()))]
    #expect(copy.isPending)
    let other = copy.resolve(.failure(Oops()))

    #expect([early] + begun + resolved + [other] == [false, true, false, true, false, true])
    #expect(promise.value == 1 && promise.error == nil && promise.result == .success(1))
    #expect(copy.error == Oops() && copy.value == nil && copy.isResolved)
    let again = promise.begin()
    #expect(again && promise.isPending)
  }

  @Test func `S32 promises are equatable, hashable, and codable if their types are`() throws {
    let all: [Promise<Int, Oops>] = [
      .idle, .pending, .fulfilled(1), .fulfilled(2), .rejected(Oops()),
    ]
    #expect(Set(all).count == 5)
    let coded = try JSONDecoder().decode(
      [Promise<Int, Oops>].self, from: JSONEncoder().encode(all))
    #expect(coded == all)
  }

  @Test func `S38 a recorder of events has every reduced action, in order`() {
    let base: Reducer<Counter, CounterAction> = addOrRename
    let store = Store(Counter()) { (state: inout Counter, action: CounterAction) in
      if case .rename("swallowed") = action { return .none }
      return base(&state, action)
    }
    let isReduced = Shared(true)
    let actions = Recorder(store.events.compactMap { $0.action }) {
      if case .rename(let name) = $0, name != "swallowed", store.state.name != name {
        isReduced.value = false
      }
    }

    store.send(.rename("a"))
    store.send(.rename("swallowed"))
    store.send(.add(1))

    #expect(actions.updates == [.rename("a"), .rename("swallowed"), .add(1)])
    #expect(isReduced.value)
    #expect(store.state.name == "a")
  }

  @Test func `S42 using a store inside its own reducer traps with advice`()
    async
  {
    let reading = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      storeWithin(0) { (store, state: inout Int, _: Int) in
        state = store.state
        return .none
      }
      .send(1)
    }
    let joining = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      storeWithin(0) { (store, _: inout Int, _: Int) in
        store.publisher.subscribe { _ in }.invalidate()
        return .none
      }
      .send(1)
    }
    let observing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = Store(Counter())
      store.commit { _ in _ = store.count }
    }
    let nesting = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = Store(Counter())
      store.commit { _ in store.commit { $0.count = 1 } }
    }

    let uses = [
      (reading, "Store<Int, Int>", "state"), (joining, "Store<Int, Int>", "subscribe"),
      (observing, "Store<Counter, Never>", "a member"),
      (nesting, "Store<Counter, Never>", "commit(_:_:)"),
    ]
    for (result, type, use) in uses {
      #expect(advice(result).contains("\(type), created at MiniRexStoreTests/"))
      #expect(
        advice(result).contains("was used inside its own reducer or 'commit', by '\(use)'. Use the")
      )
    }
  }

  @Test func `S42 a repeated or late cancellation does nothing`() async throws {
    let store = Store(0) { (state: inout Int, action: Int) in
      state += 1
      return action == 0 ? .cancel(id: "nobody") : .run { _ in }
    }

    store.send(0)
    let task = store.send(1)
    try await task.finished()
    for _ in 0..<2 { task.cancel() }
    try await task.finished()

    #expect(store.state == 2)
  }
}
