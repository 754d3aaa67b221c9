import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  /// Runs `body` inside a callback, so its commits are queued.
  private func whileTelling(_ store: Store<Wall, Never>, _ body: @escaping @Sendable () -> Void) {
    let token = store.publisher(of: \.edits).dropFirst().subscribe { edits in
      if edits == 1 { body() }
    }
    store.edits = 1
    withExtendedLifetime(token) {}
  }

  @Test func `S19 a removed row receives pending commits before its subscriptions finish`() {
    let store = Store(Wall(cards: 2))
    let row = store.scope(row: 1, in: \.cards)
    let numbers = Recorder(row!.publisher(of: \.number))
    let other = Recorder(store.scope(row: 0, in: \.cards)!.publisher(of: \.number))

    whileTelling(store) {
      for number in 5...7 { store.commit { $0.cards[id: 1]?.number = number } }
      store.commit { $0.cards[id: 1] = nil }
      store.commit { _ = $0.cards.append(Card(id: 1, number: 8)) }
      store.commit { $0.cards[id: 0]?.number = 9 }
    }

    #expect(numbers.updates == [0, 5, 6, 7] && numbers.hasEnded)
    #expect(other.updates == [0, 9] && !other.hasEnded)
  }

  @Test func `S13 S19 a removed row's state is no older than its last read`() {
    let store = Store(Wall(cards: 2))
    let row = store.scope(row: 1, in: \.cards)!
    let seen = Shared<[Int]>([])
    let token = row.publisher(of: \.number).subscribe { _ in seen.append(row.state.number) }

    whileTelling(store) {
      for number in 5...6 { store.commit { $0.cards[id: 1]?.number = number } }
      #expect(row.state.number == 6)
      store.commit { $0.cards[id: 1] = nil }
    }

    #expect(seen.value == [0, 6, 6] && row.state.number == 6)
    withExtendedLifetime(token) {}
  }

  @Test func `S19 a removed row's scope keeps the last state it read`() {
    let store = Store(Wall(cards: 2))
    let row = store.scope(row: 1, in: \.cards)
    store.commit { $0.cards[id: 1]?.number = 3 }
    let read = row?.state.number
    store.commit { $0.cards[id: 1]?.number = 4 }
    store.commit { $0.cards = [] }

    #expect(read == 3 && row?.state.number == 3 && row?.isActive == false)
  }
  @Test func `S20 removing a child of a row cancels that child's effects only`() {
    let clerk = Clerk()
    let cards: Rows = [Card(id: 1, note: Note()), Card(id: 2, note: Note())]
    let store = Store(Wall(cards: cards)) { (state: inout Wall, action: WallAction) in
      if case .cancel("note") = action { state.cards[id: 1]?.note = nil }
      return clerk.wall(&state, action)
    }
    for id in 1...2 { store.send(.card(id, .note(.follow))) }
    #expect(store.effectCount == 2)

    store.send(.cancel("note"))
    #expect(store.effectCount == 1)
    clerk.source.broadcast(0)

    #expect(store.state.cards.map(\.note?.text) == [nil, "!"])
    store.send(.remove(2))
    #expect(store.effectCount == 0 && store.hasForgottenScopes)
  }

  @Test func `S20 S27 no bookkeeping remains of a row whose effects have ended`() {
    let clerk = Clerk()
    let store = Store(Wall(cards: 2), reducer: clerk.wall)
    store.send(.card(1, .follow("a")))
    #expect(store.effectCount == 1 && !store.hasForgottenScopes)

    clerk.source.end()

    #expect(store.effectCount == 0 && store.hasForgottenScopes && store.hasForgottenEffects)
  }
}
