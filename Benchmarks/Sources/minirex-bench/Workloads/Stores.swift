import CBench
import MiniRex
import MiniRexStore
import Synchronization

private struct Counter: Sendable {
  var count = 0
  var name = "counter"
}

private enum CounterAction: Sendable { case increment }

private func reduce(_ state: inout Counter, _ action: CounterAction) {
  switch action {
  case .increment: state.count &+= 1
  }
}

/// The baseline: the state behind a `Mutex`, and closures that run after each change.
private final class MutexStore: Sendable {
  private let state: Mutex<Counter>
  private let reducer: @Sendable (inout Counter, CounterAction) -> Void
  nonisolated(unsafe) private var subscribers: [@Sendable (Int) -> Void] = []

  init(_ reducer: @escaping @Sendable (inout Counter, CounterAction) -> Void) {
    state = Mutex(Counter())
    self.reducer = reducer
  }

  func subscribe(_ receive: @escaping @Sendable (Int) -> Void) { subscribers.append(receive) }

  @inline(__always)
  func send(_ action: CounterAction) {
    let count = state.withLock { state in
      reducer(&state, action)
      return state.count
    }
    for subscriber in subscribers { subscriber(count) }
  }
}

private func counterStore() -> Store<Counter, CounterAction> {
  Store(Counter()) { (state: inout Counter, action: CounterAction) in
    reduce(&state, action)
    return .none
  }
}

extension Suite {
  func stores() {
    for n in [0, 1, 10] {
      bench("store-send-\(n)", "minirex") {
        let store = opaque(counterStore())
        let acc = Acc()
        let tokens = Holder(
          (0..<n).map { _ in store.publisher(of: \.count).subscribe { acc.add($0) } })
        return { k in
          for _ in 0..<k { store.send(.increment) }
          withExtendedLifetime(tokens) {}
        }
      }
      bench("store-send-\(n)", "Mutex") {
        let store = opaque(MutexStore(reduce))
        let acc = Acc()
        for _ in 0..<n { store.subscribe { acc.add($0) } }
        return { k in for _ in 0..<k { store.send(.increment) } }
      }
    }
    bench("store-receipt", "minirex") {
      let store = opaque(counterStore())
      return { k in for _ in 0..<k { _ = opaque(store.send(.increment) { $0.count }.value) } }
    }
    bench("store-decide", "minirex") {
      let store = opaque(counterStore())
      return { k in for _ in 0..<k { store.send { _ in .increment } } }
    }
    bench("modify-0", "minirex") {
      let property = opaque(PublishedProperty(Counter()))
      return { k in for _ in 0..<k { property.modify { $0.count &+= 1 } } }
    }
    bench("store-commit-0", "minirex") {
      let store = opaque(Store<Counter, Never>(Counter()))
      return { k in for _ in 0..<k { store.commit { $0.count &+= 1 } } }
    }
    bench("store-commit-0", "Mutex") {
      let store = opaque(MutexStore(reduce))
      return { k in for _ in 0..<k { store.send(.increment) } }
    }
    bench("store-contended-2", "minirex") {
      let store = opaque(counterStore())
      return { k in onThreads(2, k) { m in for _ in 0..<m { store.send(.increment) } } }
    }
    bench("store-contended-2", "Mutex") {
      let store = opaque(MutexStore(reduce))
      return { k in onThreads(2, k) { m in for _ in 0..<m { store.send(.increment) } } }
    }
    append(to: 1_000_000, named: "store-append")
    append(to: 0, named: "store-append-empty")
  }

  /// Removes each appended element again, so that the array keeps its size.
  private func append(to count: Int, named name: String) {
    bench(name, "minirex") {
      let store = opaque(
        Store([Int](repeating: 0, count: count)) { (state: inout [Int], action: Int) in
          if action >= 0 { state.append(action) } else { state.removeLast() }
          return .none
        })
      return { k in
        for i in 0..<k {
          store.send(i)
          store.send(-1)
        }
      }
    }
  }

  func effects() {
    bench("effect-run", "minirex") {
      let store = opaque(
        Store(0) { (state: inout Int, action: Int) in
          state &+= action
          return .run { _ in }
        })
      return { k in blocking { for _ in 0..<k { try? await store.send(1).finished() } } }
    }
    bench("effect-run", "Task") {
      { k in blocking { for _ in 0..<k { await Task {}.value } } }
    }
    // The same guarantee without a store: a canceled wait cancels the work, and returns with it.
    bench("effect-run", "floor") {
      let work: @Sendable (@escaping @Sendable (Int) -> Void) async throws -> Void = { _ in }
      return { k in
        blocking {
          for _ in 0..<k {
            let wait = CancellableWait()
            let task = Task {
              try? await work { wait.ignore($0) }
              wait.end()
            }
            await withTaskCancellationHandler {
              await withUnsafeContinuation { wait.begin($0) }
            } onCancel: {
              task.cancel()
            }
          }
        }
      }
    }
    bench("effect-chain", "minirex") {
      let store = opaque(
        Store(0) { (state: inout Int, action: Int) in
          state &+= 1
          return action > 0 ? .send(action - 1) : .none
        })
      return { k in store.send(k - 1) }
    }
  }
}

/// The cancellable part of a `StoreTask`, without a store.
private final class CancellableWait: Sendable {
  private struct State {
    var isOver = false
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func ignore(_: Int) {}

  func begin(_ waiter: UnsafeContinuation<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.waiter = waiter }
      return state.isOver
    }
    if isOver { waiter.resume() }
  }

  func end() {
    let waiter = state.withLock { state in
      state.isOver = true
      return state.waiter
    }
    waiter?.resume()
  }
}
