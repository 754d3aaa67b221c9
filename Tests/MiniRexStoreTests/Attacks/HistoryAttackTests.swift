import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Histories that are used re-entrantly, released at awkward moments, or both.
@Suite(.heavy) struct HistoryAttackTests {
  @Test func `an action sent by a predicate is reduced next and recorded separately`() async throws
  {
    let box = WeakBox<Store<Counter, CounterAction>>()
    let store = Store(Counter()) { (state: inout Counter, action: CounterAction) in
      let effect = addOrRename(&state, action)
      guard case .rename = action else { return effect }
      return .run { send in send(.add(100)) }
    }
    box.value = store
    let actions = Recorder(store.events.compactMap { $0.action })
    let history = History(of: store) { commit in
      if case .action(.add(1)) = commit.cause { box.value?.send(.rename("sent")) }
      return true
    }

    try await store.send(.add(1)).finished()

    #expect(actions.updates == [.add(1), .rename("sent"), .add(100)])
    #expect(history.undo() && store.state == Counter(count: 1, name: "sent"))
    #expect(history.undo() && store.state == Counter(count: 1))
    #expect(history.undo() && store.state == Counter())
    #expect(store.hasForgottenEffects)
  }

  @Test func `an action sent by a comparison is reduced next`() {
    struct Whole: Sendable {
      var part: Nosy
      var count = 0
    }
    let box = WeakBox<Store<Whole, Int>>()
    let isArmed = Shared(false)
    let store = Store(
      Whole(
        part: Nosy(1) {
          if isArmed.change({ armed in
            defer { armed = false }
            return armed
          }) {
            box.value?.send(10)
          }
        })
    ) { (state: inout Whole, amount: Int) in
      state.count += amount
      return .none
    }
    box.value = store
    let scope: Store<Nosy, Int> = store.scope(\.part) { $0 }
    let history = History(of: scope)

    isArmed.value = true
    store.send(1)

    #expect(store.state.count == 11 && !history.undo())
  }

  @Test func `dropped states are released where they can use the store`() {
    struct Kept: Sendable {
      var number = 0
      var witness: Witness?
    }
    let box = WeakBox<Store<Kept, Int>>()
    let released = Shared(0)
    let store = Store(Kept()) { (state: inout Kept, number: Int) in
      state.number = number
      state.witness = Witness {
        // A read with exclusive access traps.
        if box.value?.state != nil { released.increment() }
      }
      return number > 1_000 ? .send(number - 1_000) : .none
    }
    box.value = store
    var history: History? = History(of: store, limit: 2) { $0.state.number % 3 != 0 }
    let row = History(of: store, limit: 1)

    for number in 1...10 { store.send(number) }
    store.send(3_005)
    history?.undo()
    store.send(20)
    history?.undo()
    history?.redo()
    row.undo()
    row.redo()
    store.send(21)
    history = nil

    #expect(released.value > 8)
  }

  @Test func `a history can be released in its own callbacks and the store's`() {
    for place in 0..<4 {
      let store = Store(Counter(), reducer: addOrRename)
      let box = Shared<History?>(nil)
      box.value = History(of: store) { _ in
        if place == 0 { box.value = nil }
        return true
      }
      let release: @Sendable (Bool) -> Void = { if $0 { box.value = nil } }
      let tokens = [
        box.value?.canUndo.dropFirst().subscribe { release(place == 1 && $0) },
        box.value?.canRedo.dropFirst().subscribe { release(place == 2 && $0) },
        store.publisher(of: \.count).dropFirst().subscribe { _ in release(place == 3) },
      ]

      store.send(.add(1))
      box.value?.undo()
      store.send(.add(1))

      #expect(box.value == nil && store.state.count == (place == 2 ? 1 : 2))
      withExtendedLifetime(tokens) {}
    }
  }

  @Test func `undo in a callback commits after the delivered commit`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store)
    let events = Recorder(store.events.compactMap { $0.commit?.state.count }) { count in
      if count >= 2 { history.undo() }
    }
    let ways = Recorder(history.canUndo) { if $0 { history.undo() } }

    store.send(.add(1))
    store.send(.add(2))

    #expect(events.updates == [1, 0, 2, 0])
    #expect(ways.updates.last == false && store.state.count == 0)
  }

  @Test func `a subscriber that joins before an availability is published receives it`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store)
    let before = Recorder(history.canUndo)
    let late = Shared<Recorder<Bool>?>(nil)
    let events = store.events.subscribe { _ in
      if late.value != nil { return }
      late.value = Recorder(history.canUndo)
      history.undo()
    }

    store.send(.add(1))

    #expect(late.value?.updates == [true, false] && history.canUndo.current() == false)
    #expect(before.updates.last == false)
    withExtendedLifetime(events) {}
  }

  @Test func `ten thousand nested undos use constant stack space`() {
    let store = Store(0) { (state: inout Int, amount: Int) in
      state += amount
      return .none
    }
    let history = History(of: store, limit: 10_000)
    for _ in 0..<10_000 { store.send(1) }
    let told = Recorder(store.publisher.dropFirst()) { _ in history.undo() }

    onThread(stackSize: 512 << 10) { history.undo() }

    #expect(told.updates == Array((0..<10_000).reversed()))
    #expect(history.canUndo.current() == false && history.canRedo.current() == true)
  }

  @Test func `a released history releases its states immediately`() {
    let store = Store(Counter())
    let isGone = Shared(false)
    func history() -> History {
      let witness = Witness { isGone.value = true }
      return History(of: store) { _ in
        witness.touch()
        return true
      }
    }
    var kept: History? = history()
    store.count = 1
    #expect(kept?.canUndo.current() == true && !isGone.value)

    kept = nil

    #expect(isGone.value)
  }

  @Test func `a removed child's scope has the restored state`() {
    let store = Store(House(guest: Room()))
    let guest = store.scope(ifPresent: \.guest)
    let history = guest.map { History(of: $0) }

    guest?.lamps = 1
    history?.undo()
    store.guest = nil

    #expect(guest?.state.lamps == 0)
    #expect(guest.map { History(of: $0) }?.undo() == false)
  }

  @Test func `a child removed and added within a chain is another child`() {
    let store = Store(House(guest: Room())) { (state: inout House, action: Int) in
      state.guest = action == 1 ? nil : Room(lamps: 7)
      return action == 1 ? .send(2) : .none
    }
    let guest: Store<Room, Int>? = store.scope(ifPresent: \.guest) { $0 }
    let history = guest.map { History(of: $0) }

    store.send(1)

    #expect(guest?.isActive == false && history?.undo() == false)
    #expect(store.state.guest?.lamps == 7)
  }

  @Test func `threads that create, use, and release histories leave no state behind`() {
    for _ in 0..<scaled(20) {
      let store = Store(House(guest: Room()))
      let alive = Shared(0)
      onThreads(4) { thread in
        for step in 0..<50 {
          let witness = Witness { alive.increment(by: -1) }
          alive.increment()
          let guest = store.scope(ifPresent: \.guest)
          let history =
            thread % 2 == 0
            ? History(of: store, limit: 3) { _ in
              witness.touch()
              return true
            }
            : guest.map { guest in
              History(of: guest, limit: 3) { _ in
                witness.touch()
                return true
              }
            }
          let token = history?.canUndo.subscribe { _ in }
          store.visits += 1
          guest?.lamps += 1
          history?.undo()
          if thread == 0, step % 10 == 0 { store.guest = store.state.guest == nil ? Room() : nil }
          history?.redo()
          token?.invalidate()
        }
      }

      #expect(alive.value == 0)
    }
  }
}
