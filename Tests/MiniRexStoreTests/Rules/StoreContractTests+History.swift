import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S35 undo restores the state before the last recorded commit`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store)

    #expect(!history.undo() && !history.redo())
    store.send(.add(1))
    store.send(.rename("a"))
    store.send(.add(2))

    #expect(history.undo() && store.state == Counter(count: 1, name: "a"))
    #expect(history.undo() && store.state == Counter(count: 1))
    #expect(history.redo() && store.state == Counter(count: 1, name: "a"))
    #expect(history.undo() && history.undo() && store.state == Counter())
    #expect(!history.undo() && store.state == Counter())
    #expect(history.redo() && history.redo() && history.redo())
    #expect(!history.redo() && store.state == Counter(count: 3, name: "a"))
  }

  @Test func `S35 undo and redo are commits with the cause restored`() {
    let store = Store(House(guest: Room()))
    let events = Recorder(store.events.compactMap { $0.commit })
    let other = History(of: store)
    let history = History(of: store)
    let guest = store.scope(ifPresent: \.guest)
    let lamps = guest.map { Recorder($0.publisher(of: \.lamps)) }
    let part = guest.map { Recorder($0.events) }
    let visits = Recorder(store.publisher(of: \.visits))

    store.commit { state in
      state.guest?.lamps = 1
      state.visits = 1
    }
    history.undo()
    history.redo()

    #expect(events.updates.map(\.number) == [1, 2, 3])
    #expect(events.updates.map { "\($0.cause)" } == ["change", "restored", "restored"])
    #expect(events.updates.map(\.state.visits) == [1, 0, 1])
    #expect(lamps?.updates == [0, 1, 0, 1] && visits.updates == [0, 1, 0, 1])
    #expect(part?.updates.compactMap { $0.commit?.number } == [1, 2, 3])
    #expect(part?.updates.compactMap { $0.commit }.allSatisfy { "\($0.cause)" == "parent" } == true)
    #expect(guest?.isActive == true && guest?.state.lamps == 1)
    // To another history, an undo is a commit.
    #expect(other.undo() && store.state.visits == 0)
    #expect(other.undo() && store.state.visits == 1)
  }

  @Test func `S35 a history keeps the last states up to its limit`() {
    struct Kept: Sendable {
      var number = 0
      var witness: Witness?
    }
    let alive = Shared(0)
    let store = Store(Kept()) { (state: inout Kept, number: Int) in
      alive.increment()
      state = Kept(number: number, witness: Witness { alive.increment(by: -1) })
      return .none
    }
    var history: History? = History(of: store, limit: 3)

    for number in 1...10 { store.send(number) }
    #expect(alive.value == 4)
    for number in [9, 8, 7] {
      #expect(history?.undo() == true && store.state.number == number)
    }
    #expect(history?.undo() == false && alive.value == 4)
    store.send(11)
    #expect(alive.value == 2)
    history = nil
    #expect(alive.value == 1)
  }

  @Test func `S35 a limit of 0 records nothing and calls no predicate`() {
    let store = Store(Counter(), reducer: addOrRename)
    let asked = Shared(0)
    let history = History(of: store, limit: 0) { _ in asked.increment() > 0 }
    let canUndo = Recorder(history.canUndo)

    store.send(.add(1))

    #expect(!history.undo() && !history.redo() && store.state.count == 1)
    #expect(asked.value == 0 && canUndo.updates == [false])
  }

  @Test func `S35 a history records from creation to release and retains its store`() {
    var store: Store? = Store(Counter(), reducer: addOrRename)
    weak let weakly = store
    let asked = Shared<[Int]>([])
    store?.send(.add(1))
    var history: History? = store.map { store in
      History(of: store) { commit in
        asked.append(commit.number)
        return true
      }
    }
    let canUndo = history?.canUndo
    let recorder = canUndo.map { Recorder($0) }

    #expect(history?.undo() == false)
    store?.send(.add(1))
    let events = store.map { Recorder($0.publisher(of: \.count)) }
    store = nil
    #expect(weakly != nil && history?.undo() == true)
    #expect(weakly?.state.count == 1)
    store = weakly
    history = nil
    store?.send(.add(5))

    #expect(asked.value == [2] && store?.state.count == 6)
    #expect(recorder?.updates == [false, true, false] && recorder?.hasEnded == true)
    #expect(canUndo?.current() == false)
    store = nil
    #expect(weakly == nil && events?.hasEnded == true)
  }

  @Test func `S35 a commit after undo discards the redo states`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store) { $0.state.name.isEmpty }

    store.send(.add(1))
    store.send(.add(2))
    history.undo()
    store.send(.add(10))
    #expect(!history.redo() && store.state.count == 11)
    #expect(history.undo() && store.state.count == 1)
    // A commit that is not recorded also discards the redo states.
    store.send(.rename("b"))
    #expect(!history.redo() && store.state == Counter(count: 1, name: "b"))
  }

  @Test func `S35 a commit that is not recorded joins the previous commit`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store) { commit in
      if case .action(.add) = commit.cause { true } else { false }
    }

    store.send(.rename("a"))
    #expect(!history.undo())
    store.send(.add(1))
    store.send(.rename("b"))
    store.send(.rename("c"))
    store.send(.add(2))
    #expect(history.undo() && store.state == Counter(count: 1, name: "c"))
    #expect(history.undo() && store.state == Counter(count: 0, name: "a"))
    #expect(!history.undo())
    #expect(history.redo() && store.state == Counter(count: 1, name: "c"))
  }

  @Test func `S35 each action of a chain is recorded separately`() {
    let store = Store(0) { (state: inout Int, action: Int) in
      state += action
      return action > 1 ? .send(action - 1) : .none
    }
    let history = History(of: store)

    store.send(3)

    #expect(store.state == 6)
    #expect(history.undo() && store.state == 5)
    #expect(history.undo() && store.state == 3)
    #expect(history.undo() && store.state == 0)
  }

  @Test func `S35 canUndo and canRedo emit each change and match undo and redo`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store, limit: 2)
    let back = Recorder(history.canUndo)
    let forth = Recorder(history.canRedo)
    let seen = Recorder(store.events.map { _ in history.canUndo.current() == true })

    store.send(.add(1))
    store.send(.add(1))
    history.undo()
    history.undo()
    history.redo()
    store.send(.add(1))

    #expect(back.updates == [false, true, false, true])
    #expect(forth.updates == [false, true, false])
    #expect(seen.updates == [true, true, true, false, true, true])
    #expect(history.canUndo.current() == true && history.canRedo.current() == false)
  }
}
