import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S35 undo on any thread undoes the last commit, even if undelivered`() {
    let store = Store(Counter(), reducer: addOrRename)
    let history = History(of: store)
    let isCalled = Gate()
    let isUndone = Gate()
    let numbers = Recorder(store.events.compactMap { $0.commit?.number }) { number in
      guard number == 1 else { return }
      isCalled.open()
      isUndone.wait()
    }

    onThreads(2) { thread in
      if thread == 0 {
        store.send(.add(1))
      } else {
        isCalled.wait()
        store.send(.add(10))
        #expect(store.pendingUpdates == 1)
        #expect(history.canUndo.current() == true)
        #expect(history.undo() && store.state.count == 1)
        #expect(history.undo() && store.state.count == 0)
        #expect(!history.undo() && history.canUndo.current() == false)
        isUndone.open()
      }
    }

    #expect(numbers.updates == [1, 2, 3, 4])
  }

  @Test func `S35 the history of a scope records and restores only the child`() {
    let store = Housekeeping().store(House(guest: Room()))
    let hall: Store<Room, RoomAction> = store.scope(\.hall) { .hall($0) }
    let causes = Shared<[String]>([])
    let history = History(of: hall) { commit in
      causes.append("\(commit.number) \(commit.cause) \(commit.state.lamps)")
      return true
    }

    hall.send(.light)
    store.send(.guest(.light))
    store.send(.hall(.light))
    #expect(history.undo())
    store.send(.guest(.light))
    #expect(store.state == House(hall: Room(lamps: 1), guest: Room(lamps: 2), visits: 4))
    // A commit that does not change the child keeps the redo states.
    #expect(history.redo() && hall.lamps == 2)
    #expect(history.undo() && history.undo() && !history.undo())
    #expect(store.state == House(hall: Room(), guest: Room(lamps: 2), visits: 4))
    #expect(causes.value == ["1 parent 1", "3 parent 2"])
  }

  @Test func `S35 a child that is not Equatable is recorded with each commit`() {
    struct Opaque: Sendable { var count = 0 }
    struct Whole: Sendable {
      var part = Opaque()
      var others = 0
    }
    let store = Store(Whole())
    let history = History(of: store.scope(\.part))

    store.part.count = 1
    store.others = 1
    #expect(history.undo() && store.state.part.count == 1)
    #expect(history.undo() && store.state.part.count == 0 && store.state.others == 1)
    #expect(!history.undo())
  }

  @Test func `S35 the history of a removed child does nothing and keeps nothing`() {
    let alive = Shared(1)
    let store = Store(House(guest: Room()))
    let history = store.scope(ifPresent: \.guest).map { guest in
      let witness = Witness { alive.increment(by: -1) }
      return History(of: guest) { _ in
        witness.touch()
        return true
      }
    }
    let canUndo = history.map { Recorder($0.canUndo) }

    store.guest?.lamps = 1
    store.guest = nil
    #expect(history?.undo() == false && store.state.guest == nil)
    #expect(alive.value == 0)
    store.guest = Room(lamps: 5)
    #expect(history?.undo() == false && history?.redo() == false)
    #expect(store.state.guest?.lamps == 5)
    #expect(canUndo?.updates == [false, true, false])
  }

  @Test func `S19 S35 undo cancels the effects of removed children`() {
    let house = Housekeeping()
    let store = house.store()
    let history = History(of: store)
    let ends = Recorder(
      store.events.compactMap { event -> String? in
        if case .ended(_, let end, _) = event { "\(end)" } else { nil }
      })

    store.send(.arrive(lamps: 1))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    let task = store.send(.guest(.follow("a")))
    house.source.broadcast(1)
    #expect(store.state.guest?.lamps == 2 && store.effectCount == 1)
    for _ in 0..<3 { history.undo() }

    #expect(store.state == House() && guest?.isActive == false)
    #expect(store.effectCount == 0 && task.isFinished && ends.updates == ["✖ cancelled"])
    #expect(house.source.subscriberCount == 0)
    // The restored child has another scope.
    history.redo()
    #expect(guest?.isActive == false && store.state.guest?.lamps == 1)
  }

  @Test func `S35 undo does not cancel the effects of the root`() async {
    let clock = ManualClock()
    let store = Store([Int]()) { (state: inout [Int], action: Int) in
      state.append(action)
      if action < 0 { return .none }
      return .run { send in
        try? await clock.sleep(for: .seconds(1))
        send(-action)
      }
    }
    let history = History(of: store)
    let states = Recorder(store.publisher)

    store.send(1)
    #expect(history.undo())
    await clock.advance(by: .seconds(1), sleepers: 1)

    #expect(await states.next(4) == [[], [1], [], [-1]])
  }

  @Test func `S18 S35 undo notifies the changed rows only`() {
    let store = Store(Wall(cards: 300))
    let history = History(of: store)
    let told = Shared<[Int]>([])
    let subscriptions = store.scope(rows: \.cards).map { card in
      card.publisher(of: \.text).dropFirst().subscribe { _ in told.append(card.state.id) }
    }

    store.commit { $0.cards[id: 7]?.text = "7" }
    store.commit { $0.cards[id: 200]?.text = "200" }
    history.undo()
    history.undo()
    history.redo()

    #expect(told.value == [7, 200, 200, 7, 7])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `S35 the history of a row restores the row at any position`() {
    let store = Store(Wall(cards: 3))
    let row = store.scope(row: 1, in: \.cards)
    let history = row.map { History(of: $0) }

    row?.text = "a"
    store.commit { $0.cards.move(id: 1, to: 0) }
    row?.text = "b"
    #expect(history?.undo() == true)

    #expect(store.state.cards.map(\.text) == ["a", "", ""])
    #expect(store.state.cards.ids == [1, 0, 2] && row?.state.text == "a")
  }

  @Test func `S35 S42 a negative limit traps with advice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = History(of: Store(Counter()), limit: -1)
    }

    #expect(advice(result).contains("A History requires a limit of 0 or more, not -1."))
  }

  @Test func `S7 S35 undo inside a reducer or a predicate traps with advice`() async {
    let reducing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let box = WeakBox<History>()
      let store = Store(0) { (state: inout Int, _: Int) in
        box.value?.undo()
        return .none
      }
      let history = History(of: store)
      box.value = history
      store.send(1)
    }
    let asking = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let box = WeakBox<History>()
      let store = Store(Counter())
      let history = History(of: store) { _ in box.value?.undo() ?? true }
      box.value = history
      store.count = 1
    }

    for result in [reducing, asking] {
      #expect(advice(result).contains("was used inside its own reducer or 'commit', by 'undo()'"))
    }
  }
}
