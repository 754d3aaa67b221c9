import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Compares the deliveries to rows with a model, and releases rows at awkward moments.
@Suite(.heavy, .serialized) struct RowAttackTests {
  let seed = ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// A subscriber of one row until the row is removed.
  private struct Listener {
    let id: Int
    let row: Store<Card, Never>
    let numbers: Recorder<Int>
    var heard: [Int]
    var hasGone = false
  }

  @Test func `S18 S19 random changes, removals, and undos notify rows like a model`() {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<scaled(6) {
      let store = Store(Wall(cards: 30))
      var listeners: [Listener] = []
      var kept: [Rows<Card>] = []
      for _ in 0..<300 {
        let id = Int.random(in: 0..<40, using: &random)
        change(store, id, &kept, &random)
        let cards = store.state.cards
        for index in listeners.indices where !listeners[index].hasGone {
          let number = cards[id: listeners[index].id]?.number
          if let number, number != listeners[index].heard.last {
            listeners[index].heard.append(number)
          }
          listeners[index].hasGone = number == nil
        }
        if let row = store.scope(row: id, in: \.cards) {
          listeners.append(
            Listener(
              id: id, row: row, numbers: Recorder(row.publisher(of: \.number)),
              heard: [row.state.number]))
        }
        if listeners.count > 60 {
          listeners.remove(at: Int.random(in: 0..<60, using: &random))
        }
      }

      let isRight = listeners.allSatisfy {
        $0.numbers.updates == $0.heard && $0.numbers.hasEnded == $0.hasGone
          && $0.row.isActive == !$0.hasGone && $0.row.state.number == $0.heard.last
      }
      #expect(isRight, "seed \(seed)")
      listeners = []
      #expect(store.hasForgottenScopes && store.subscriberCount == 0)
    }
  }

  private func change(
    _ store: Store<Wall, Never>, _ id: Int, _ kept: inout [Rows<Card>],
    _ random: inout SeededGenerator
  ) {
    let number = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<8: store.commit { $0.cards[id: id]?.number = number }
    case 8: store.scope(row: id, in: \.cards)?.number = number
    case 9, 10: store.commit { _ = $0.cards.append(Card(id: id, number: number)) }
    case 11, 12: store.commit { $0.cards[id: id] = nil }
    case 13:
      // The row is present again when the commit is made, so it was not removed.
      store.commit { state in
        if state.cards.remove(id: id) != nil { state.cards.append(Card(id: id, number: number)) }
      }
    case 14: store.commit { $0.cards.move(id: id, to: 0) }
    case 15: kept.append(store.state.cards)
    case 16: if let cards = kept.randomElement(using: &random) { store.cards = cards }
    case 17:
      store.commit { state in for card in state.cards { state.cards[id: card.id]?.text = "x" } }
    case 18: store.commit { $0.cards.removeAll { $0.id % 5 == id % 5 } }
    default:
      let ids = store.state.cards.ids.shuffled(using: &random).dropLast(3) + [id]
      store.commit { $0.cards.update(to: ids, id: { $0 }) { Card(id: $1, number: number) } }
    }
  }

  @Test func `S5 S19 a callback of a row removes it, adds it, and subscribes again`() {
    let store = Store(Wall(cards: 3))
    let log = Log()
    let bag = SubscriptionBag()
    @Sendable func listen(_ generation: Int) {
      guard let row = store.scope(row: 1, in: \.cards) else { return }
      row.publisher(of: \.number).subscribe { number in
        log.add("\(generation): \(number)")
        if number == 1, generation < 3 {
          store.commit { $0.cards[id: 1] = nil }
          store.commit { _ = $0.cards.append(Card(id: 1, number: 10 * generation)) }
          listen(generation + 1)
          row.commit { $0.number = 99 }
        }
      }
      .store(in: bag)
    }

    listen(1)
    for _ in 0..<3 { store.commit { $0.cards[id: 1]?.number = 1 } }
    store.commit { $0.cards = [] }

    #expect(log.lines == ["1: 0", "1: 1", "2: 10", "2: 1", "3: 20", "3: 1"])
    #expect(store.subscriberCount == 0 && store.hasForgottenScopes)
  }

  @Test func `S15 S19 scopes and subscriptions released inside the reducer end after it`() {
    struct Held: Sendable {
      var rows: [Store<Card, CardAction>] = []
      var tokens: [Subscription] = []
    }
    let held = Shared(Held())
    let clerk = Clerk()
    let store = Store(Wall(cards: 10)) { (state: inout Wall, action: WallAction) in
      held.value = Held()
      return clerk.wall(&state, action)
    }
    let heard = Shared(0)

    for round in 0..<10 {
      held.change { held in
        for id in 0..<10 {
          let row: Store<Card, CardAction>? = store.scope(row: id, in: \.cards) { .card($0, $1) }
          guard let row else { continue }
          held.tokens.append(row.publisher(of: \.number).subscribe { _ in heard.increment() })
          held.rows.append(row)
        }
      }
      let before = heard.value
      if round.isMultiple(of: 2) {
        store.send(.remove(round))
        store.send(.add(round))
      } else {
        store.send(.card(round, .count))
      }
      #expect(heard.value == before)
    }

    store.send(.cancel(""))
    #expect(store.subscriberCount == 0 && store.hasForgottenScopes)
  }

  @Test func `S17 S18 S19 four threads add, remove, change, and release rows`() {
    let store = Store(Wall(cards: 4))
    let bad = Shared(0)
    let rows = Shared<[Store<Card, Never>]>([])
    let recorders = Shared<[Recorder<Int>]>([])

    // Each added card gets a number above all earlier numbers, and numbers only rise.
    let generation = Shared(0)
    onThreads(4) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      for _ in 0..<scaled(1_500) {
        let id = Int.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: store.commit { $0.cards[id: id] = nil }
        case 1:
          store.commit { state in
            _ = state.cards.append(Card(id: id, number: 10_000 * generation.increment()))
          }
        case 2, 3: store.commit { $0.cards[id: id]?.number += 1 }
        case 4:
          // Releases the last references, possibly during a delivery.
          let old = rows.change { rows in
            defer { rows.removeAll() }
            return rows
          }
          let ended = recorders.change { recorders in
            defer { recorders.removeAll() }
            return recorders
          }
          for recorder in ended {
            let seen = recorder.updates
            if !zip(seen, seen.dropFirst()).allSatisfy({ $1 == $0 + 1 }) { bad.increment() }
          }
          withExtendedLifetime(old) {}
        default:
          guard let row = store.scope(row: id, in: \.cards) else { continue }
          let numbers = Recorder(row.publisher(of: \.number)) { number in
            // Some callbacks commit.
            if number % 97 == 0 { row.commit { $0.text = "told" } }
          }
          rows.append(row)
          recorders.append(numbers)
        }
      }
    }
    store.commit { $0.cards = [] }

    #expect(bad.value == 0)
    let isOver = recorders.value.allSatisfy { $0.hasEnded }
    #expect(isOver && rows.value.allSatisfy { !$0.isActive })
    rows.value = []
    recorders.value = []
    #expect(store.hasForgottenScopes && store.subscriberCount == 0)
  }
}
