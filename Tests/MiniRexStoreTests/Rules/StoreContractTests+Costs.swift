import MiniRex
import MiniRexStore
import MiniRexTesting
import Observation
import TestSupport
import Testing

private struct Item: Identifiable, Sendable, Equatable {
  let id: Int
  var value: Nosy

  init(_ id: Int, _ onCompare: @escaping @Sendable () -> Void = {}) {
    self.id = id
    value = Nosy(0, onCompare: onCompare)
  }
}

/// A list and a removable child.
private struct Board: Sendable {
  var items: Rows<Item> = []
  var guest: Counter?
  var moves = 0
}

private enum Move: Sendable {
  case hang
  case guest(Int)
  case fork(isCancellable: Bool)
  case leaveAndSend
  case change
  case listen
}

private func makeBoard(_ guest: Counter? = nil) -> Store<Board, Move> {
  Store(Board(guest: guest)) { (state: inout Board, action: Move) -> Effect<Move> in
    state.moves += 1
    func reduceGuest(_ more: Int, by reducer: Reducer<Counter, Int>) -> Effect<Move> {
      .reduce(&state, ifPresent: \.guest, more, by: reducer) { .guest($0) }
    }
    let countdown: Reducer<Counter, Int> = { guest, more in
      guest.count += 1
      return more > 0 ? .send(more - 1) : .none
    }
    switch action {
    case .hang: return .run { _ in try await Task.sleep(for: .seconds(3_600)) }
    case .listen: return .publisher { Broadcaster { receive in Subscription { _ = receive } } }
    case .guest(let more): return reduceGuest(more, by: countdown)
    case .fork(let isCancellable):
      return reduceGuest(0) { guest, _ in
        guest.count += 1
        let sends = Effect<Int>.merge(.send(0), .send(0))
        return isCancellable ? sends.cancellable(id: 1) : sends
      }
    case .leaveAndSend:
      let effect = reduceGuest(1, by: countdown)
      state.guest = nil
      return effect
    case .change:
      let effect = reduceGuest(0) { _, _ in .merge(.send(0)) }
      state.guest = nil
      return .merge(.send(.hang), effect)
    }
  }
}

extension StoreContractTests {
  @Test func `S20 a child's returned action is reduced next while the child is present`() {
    let store = makeBoard(Counter())
    let numbers = Recorder(store.events.compactMap { $0.commit?.number })

    let task = store.send(.guest(1_000))
    #expect(store.guest?.count == 1_001)
    #expect(store.moves == 1_001)
    #expect(task.isFinished)
    #expect(numbers.updates == Array(1...1_001))
    #expect(store.hasForgottenScopes)

    store.send(.leaveAndSend)
    #expect(store.moves == 1_002)
    #expect(store.guest == nil)
    store.send(.guest(3))
    #expect(store.moves == 1_003)
    #expect(store.hasForgottenScopes)
  }

  @Test(arguments: [false, true])
  func `S20 a present child is forgotten after the actions that it returned`(
    _ isCancellable: Bool
  ) {
    let store = makeBoard(Counter())

    let task = store.send(.fork(isCancellable: isCancellable))

    #expect(store.guest?.count == 3)
    #expect(task.isFinished)
    #expect(store.hasForgottenScopes)
    #expect(store.hasForgottenEffects)
  }

  @Test func `S20 an action of a removed child is dropped, even behind other effects`() {
    let store = makeBoard(Counter())

    let task = store.send(.change)

    #expect(store.moves == 2)
    #expect(store.hasForgottenScopes)
    task.cancel()
  }

  @Test func `S25 cancel costs O(effects of its task), independent of other effects`() {
    /// The shortest time of many, because a thread may be suspended in any of them.
    func timeToCancel(among count: Int) -> Duration {
      let store = makeBoard()
      for _ in 0..<count { store.send(.listen) }
      let times = (0..<50).map { _ in
        let task = store.send(.listen)
        return ContinuousClock().measure { task.cancel() }
      }
      #expect(store.effectCount == count)
      return times.min() ?? .zero
    }

    let ratio = timeToCancel(among: 5_000) / timeToCancel(among: 50)

    // An examination of all effects takes a hundred times as many steps.
    #expect(ratio <= 6)
  }

  @Test func `S25 cancel cancels only the effects of its task, in order`() async {
    let ended = Shared<[Int]>([])
    let store = Store(0) { (state: inout Int, action: Int) -> Effect<Int> in
      .merge(
        (0..<4).map { number in
          .publisher {
            Broadcaster { receive in
              Subscription {
                withExtendedLifetime(receive) {}
                ended.append(action * 10 + number)
              }
            }
          }
          .cancellable(id: action * 10 + number)
        })
    }
    let tasks = [1, 2, 3].map { store.send($0) }
    #expect(store.effectCount == 12)

    tasks[1].cancel()
    #expect(ended.value == [20, 21, 22, 23])
    #expect(tasks.map(\.isFinished) == [false, true, false])
    tasks[2].cancel()
    tasks[0].cancel()
    tasks[0].cancel()

    #expect(ended.value == [20, 21, 22, 23, 30, 31, 32, 33, 10, 11, 12, 13])
    #expect(store.hasForgottenEffects)
    withExtendedLifetime(store) {}
  }

  @Test func `S25 a reducer that cancels its task drops the task's actions`() async {
    let box = Shared<StoreTask?>(nil)
    let store = storeWithin([Int]()) {
      (store: Store<[Int], Int>, state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      if action != 1 { return .none }
      store.send(2).cancel()
      store.send(3)
      return .send(4)
    }
    await #expect(throws: CancellationError.self) { try await store.send(1).finished() }
    #expect(store.state == [1])

    let gate = BroadcastSource<Int>()
    let inner = Store([Int]()) { (state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      switch action {
      case 10: return .publisher { gate.publisher }
      case 11:
        box.value?.cancel()
        return .merge(.send(12), .run { send in send(13) })
      case 20:
        box.value?.cancel()
        return .send(21)
      default: return .none
      }
    }
    let task = inner.send(10)
    box.value = task
    gate.broadcast(11)
    await #expect(throws: CancellationError.self) { try await task.finished() }
    #expect(inner.state == [10, 11])
    #expect(inner.hasForgottenEffects)

    box.value = inner.send(10)
    let other = inner.send(20)
    try? await other.finished()
    #expect(inner.state == [10, 11, 10, 20, 21])
    #expect(inner.effectCount == 0)
  }

  @Test(.enabled(if: scale >= 1, "Sanitizers retain memory."))
  func `S14 changes pending on the main actor take one job per member`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let isHeld = Gate()
      let mayGo = Gate()
      Task { @MainActor in
        isHeld.open()
        mayGo.wait()
      }
      await onQueue {
        isHeld.wait()
        let store = Store<Counter, Never>(Counter())
        let changes = Shared(0)
        func change() {
          withObservationTracking {
            _ = store.count
          } onChange: {
            changes.increment()
          }
          store.count += 1
        }
        for _ in 0..<1_000 { change() }
        let before = peakMemory() ?? 0
        for _ in 0..<50_000 { change() }
        let growth = (peakMemory() ?? 0) - before
        precondition(changes.value == 51_000, "\(changes.value) changes")
        precondition(growth < 8 << 20, "\(growth) bytes")
        mayGo.open()
      }
    }
  }

  @MainActor
  @Test func `S14 a pending report on the main actor reaches only its own observers`() async {
    let store = Store<Counter, Never>(Counter())
    let heard = Shared<[Int]>([])
    @Sendable func observe(_ number: Int, _ body: () -> Void = {}) {
      withObservationTracking {
        _ = store.count
        body()
      } onChange: {
        heard.append(number)
      }
    }
    func change() {
      onThread { store.count += 1 }
    }
    // Only the job of the main actor reports a change made while the closure runs.
    observe(1) { change() }
    observe(2)
    change()
    observe(3)
    #expect(heard.value == [2])
    await until { heard.value.count == 2 }
    #expect(heard.value == [2, 1])
    change()

    #expect(heard.value == [2, 1, 3])
    #expect(store.subscriberCount == 0)
  }

  @Test func `S35 the history of a row compares the row only after changes`() {
    let compared = Shared(0)
    let store = Store<Board, Never>(Board())
    store.commit { board in
      for id in 0..<100 { board.items.append(Item(id) { compared.increment() }) }
    }
    let rows = store.scope(rows: \.items)
    let histories = rows.map { History(of: $0) }
    store.commit { $0.moves += 1 }
    let before = compared.value

    for _ in 0..<10 { store.commit { $0.moves += 1 } }
    #expect(compared.value == before)
    store.commit { $0.items[id: 7]?.value = Nosy(1) }
    #expect(compared.value <= before + 1)
    #expect(histories.map { $0.canUndo.current() }.filter { $0 == true }.count == 1)
    #expect(histories[7].undo())
    #expect(store.state.items[id: 7]?.value.number == 0)
    #expect(histories[7].redo())
    store.commit { $0.items[id: 7]?.value = Nosy(2) }
    store.commit { $0.items.remove(id: 8) }
    #expect(!histories[8].undo())
    #expect(histories[7].undo() && histories[7].undo())
    #expect(store.state.items[id: 7]?.value.number == 0)
  }
}
