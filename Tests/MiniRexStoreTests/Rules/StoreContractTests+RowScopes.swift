import MiniRex
import MiniRexStore
import MiniRexTesting
import Observation
import TestSupport
import Testing

extension StoreContractTests {
  /// A row that counts its comparisons.
  private struct Watched: Sendable, Identifiable, Equatable {
    let id: Int
    var value: Nosy
  }

  @Test(arguments: [1, 20, 64, 65])
  func `S18 a commit notifies the changed rows only, in O(changed)`(_ k: Int) {
    struct Whole: Sendable {
      var rows: Rows<Watched>
      var other = 0
    }
    let compared = Shared(0)
    let watched: @Sendable (Int) -> Nosy = { Nosy($0) { compared.increment() } }
    let n = 500
    let store = Store(Whole(rows: Rows((0..<n).map { Watched(id: $0, value: watched(0)) })))
    let called = Shared<[Int]>([])
    let tokens = (0..<n).compactMap { id in
      store.scope(row: id, in: \.rows)?.publisher.dropFirst().subscribe { called.append($0.id) }
    }
    #expect(tokens.count == n && store.subscriberCount == 1)

    store.other += 1
    #expect(compared.value == 0)
    store.commit { state in for id in 0..<k { state.rows[id: 3 * id]?.value = watched(1) } }

    #expect(called.value.sorted() == (0..<k).map { 3 * $0 })
    #expect(compared.value == (k > 64 ? n : k))
    store.commit { state in state.rows = Rows(state.rows.map { $0 }) }
    #expect(compared.value == (k > 64 ? 2 * n : k + n))
    #expect(called.value.count == k)
    withExtendedLifetime(tokens) {}
  }

  @Test func `S18 a child of a row is compared only after its row changed`() {
    let store = Store(Wall(cards: [Card(id: 1, note: Note(text: "n")), Card(id: 2)]))
    let card = store.scope(row: 1, in: \.cards)
    let looks = Shared(0)
    let token = card?.scope(ifPresent: \.note)?
      .publisher(of: { note in
        looks.increment()
        return note.text
      })
      .subscribe { _ in }
    let before = looks.value

    for number in 1...10 { store.commit { $0.cards[id: 2]?.number = number } }
    #expect(looks.value == before)
    store.commit { $0.cards[id: 1]?.number = 1 }

    #expect(looks.value > before)
    withExtendedLifetime(token) {}
  }

  @Test func `S18 a commit that changes one row looks up only that row`() {
    struct Shy: Sendable, Identifiable {
      let id: Nosy
      var value = 0
    }
    let asked = Shared(0)
    let ids = (0..<500).map { Nosy($0) { asked.increment() } }
    let store = Store<Rows<Shy>, Never>(Rows(ids.map { Shy(id: $0) }))
    let tokens = ids.map { id in
      store.scope(row: id, in: \.self)?.publisher(of: \.value).subscribe { _ in }
    }
    store.commit { $0[id: ids[7]]?.value = 1 }
    asked.value = 0

    store.commit { $0[id: ids[7]]?.value = 2 }

    #expect(asked.value > 0 && asked.value < 50)
    #expect(tokens.count == 500)
  }

  @Test(arguments: [[0, 1, 2], [2, 1, 0]])
  func `S18 rows are notified in the list's position among the root's subscribers`(_ order: [Int]) {
    let log = Log()
    let store = Store(Wall(cards: 3))
    let bag = SubscriptionBag()
    store.publisher(of: \.edits).dropFirst().subscribe { _ in log.add("first") }.store(in: bag)
    for id in [2, 0] {
      store.scope(row: id, in: \.cards)?.publisher(of: \.number).dropFirst()
        .subscribe { log.add("row \(id): \($0)") }.store(in: bag)
    }
    store.publisher(of: \.edits).dropFirst().subscribe { _ in log.add("last") }.store(in: bag)

    store.commit { state in
      state.edits += 1
      for id in order { state.cards[id: id]?.number = 7 }
    }

    #expect(log.lines == ["first", "row 2: 7", "row 0: 7", "last"])
  }

  @Test func `S18 a row receives its state after undo, replacement, insertion, and moves`() {
    let store = Store(Wall(cards: 100))
    let seen = Recorder(store.scope(row: 50, in: \.cards)!.publisher(of: \.number))
    let before = store.state.cards

    store.commit { $0.cards[id: 50]?.number = 1 }
    store.commit { $0.cards = before }
    store.commit { $0.cards[id: 50]?.number = 2 }
    store.commit { $0.cards.insert(Card(id: -1), at: 0) }
    store.commit { $0.cards.move(id: 50, to: 0) }
    store.commit { $0.cards = [Card(id: 50, number: 3)] }
    store.commit { state in for id in 200..<400 { state.cards.append(Card(id: id)) } }
    store.commit { $0.cards[id: 50]?.number = 4 }

    #expect(seen.updates == [0, 1, 0, 2, 3, 4])
  }

  @Test func `S18 children and nested rows are notified when their row changes`() {
    let store = Store(
      Wall(cards: [
        Card(id: 1, steps: [Step(id: "a"), Step(id: "b")], note: Note(text: "n")), Card(id: 2),
      ]))
    let card = store.scope(row: 1, in: \.cards)
    let step = card?.scope(row: "b", in: \.steps)
    let note = card?.scope(ifPresent: \.note)
    let steps = Recorder(step!.publisher(of: \.isDone))
    let texts = Recorder(note!.scope(\.text).publisher)
    let numbers = Recorder(card!.scope(\.number).publisher)

    step?.isDone = true
    store.commit { $0.cards[id: 1]?.note?.text = "changed" }
    card?.commit { $0.number += 1 }
    store.commit { $0.cards[id: 2]?.number = 5 }
    card?.commit { $0.note = nil }
    store.commit { $0.cards[id: 1]?.steps = [Step(id: "a", isDone: true)] }
    store.commit { _ = $0.cards.remove(id: 1) }

    #expect(steps.updates == [false, true] && steps.hasEnded)
    #expect(texts.updates == ["n", "changed"] && texts.hasEnded)
    #expect(numbers.updates == [0, 1] && numbers.hasEnded)
    #expect(card?.isActive == false && step?.isActive == false && step?.isDone == true)
    #expect(card?.scope(row: "a", in: \.steps) == nil && card?.ids(in: \.steps) == ["a", "b"])
  }

  @Test func `S17 a row has one scope across insertions, removals, and moves`() {
    let store = Store(Wall(cards: 10))
    let row = store.scope(row: 5, in: \.cards)

    store.commit { state in
      state.cards.insert(Card(id: 20), at: 0)
      state.cards.remove(id: 0)
      state.cards.move(id: 5, to: 1)
      state.cards[id: 5]?.number = 3
    }

    #expect(store.scope(row: 5, in: \.cards) === row)
    #expect(store.scope(rows: \.cards).contains { $0 === row })
    #expect(store.scope(rows: \.cards).map(\.state.id) == store.state.cards.ids)
    #expect(row?.number == 3 && row?.isActive == true)
  }

  @Test func `S19 a row added with a removed id is another child`() {
    let store = Store(Wall(cards: 3))
    let row = store.scope(row: 1, in: \.cards)
    let numbers = Recorder(row!.publisher(of: \.number))
    let events = Recorder(row!.events)
    row?.number = 1

    store.commit { $0.cards[id: 1] = nil }
    store.commit { _ = $0.cards.append(Card(id: 1, number: 10)) }
    let second = store.scope(row: 1, in: \.cards)
    let seconds = Recorder(second!.publisher(of: \.number))
    row?.number = 2
    second?.number = 11

    #expect(row?.isActive == false && row?.number == 1 && second !== row)
    #expect(numbers.updates == [0, 1] && numbers.hasEnded)
    #expect(events.updates.count == 1 && events.hasEnded)
    #expect(seconds.updates == [10, 11] && !seconds.hasEnded)
    #expect(store.state.cards[id: 1]?.number == 11)
  }

  @Test(arguments: ["clear", "replace", "drawer", "whole"])
  func `S19 a commit without a reducer removes rows`(_ way: String) {
    var wall = Wall(cards: 100)
    wall.drawer = Drawer(cards: wall.cards)
    let store = Store(wall)
    let rows = store.scope(rows: \.cards)
    let hidden = store.scope(ifPresent: \.drawer)?.scope(rows: \.cards) ?? []
    let ends = (rows + hidden).map { Recorder($0.publisher(of: \.number)) }

    onThread {
      switch way {
      case "clear": store.commit { $0.cards.removeAll { $0.id != 7 } }
      case "replace": store.cards = [Card(id: 7, number: 1)]
      case "drawer": store.drawer = nil
      default: store.commit { $0 = Wall(cards: [Card(id: 7, number: 1)]) }
      }
    }

    let left = rows.filter(\.isActive).map(\.state.id)
    #expect(left == (way == "drawer" ? Array(0..<100) : [7]))
    #expect(hidden.filter(\.isActive).count == (way == "drawer" || way == "whole" ? 0 : 100))
    for (row, end) in zip(rows + hidden, ends) { #expect(row.isActive == !end.hasEnded) }
    #expect((rows + hidden).allSatisfy { $0.isActive || $0.number == 0 })
  }

  @Test func `S20 removing a row cancels its effects, whose ids are local`() {
    let clerk = Clerk()
    let store = Store(Wall(cards: 3), reducer: clerk.wall)
    for id in 0..<3 { store.send(.card(id, .follow("load"))) }
    #expect(store.effectCount == 3)

    store.send(.cancel("load"))
    #expect(store.effectCount == 3)
    store.send(.card(1, .cancel("load")))
    #expect(store.effectCount == 2)
    store.send(.remove(0))
    #expect(store.effectCount == 1)
    store.send(.add(0))
    clerk.source.broadcast(1)
    let row: Store<Card, CardAction>? = store.scope(row: 0, in: \.cards) { .card($0, $1) }
    row?.send(.count)
    store.send(.card(9, .follow("x")))

    #expect(store.state.cards.map(\.number) == [0, 1, 1])
    #expect(store.effectCount == 1 && store.subscriberCount == 0)
    store.send(.remove(2))
    #expect(store.hasForgottenEffects && store.effectCount == 0)
  }

  @Test func `S18 no bookkeeping remains of unused rows`() {
    let store = Store(Wall(cards: 100))
    var tokens = (0..<100).map { id in
      store.scope(row: id, in: \.cards)?.publisher(of: \.number).subscribe { _ in }
    }
    #expect(store.subscriberCount == 1 && !store.hasForgottenScopes)

    tokens.removeLast(50)
    store.commit { $0.cards[id: 3]?.number = 1 }
    #expect(store.subscriberCount == 1)
    tokens = []

    #expect(store.hasForgottenScopes && store.subscriberCount == 0)
  }

  @Test func `S15 S18 releasing the store finishes the subscriptions of rows`() {
    var store: Store? = Store(Wall(cards: 3))
    let publisher = store?.scope(row: 1, in: \.cards)?.publisher(of: \.number)
    let numbers = publisher.map { Recorder($0) }
    store?.commit { $0.cards[id: 1]?.number = 4 }

    store = nil

    #expect(numbers?.updates == [0, 4] && numbers?.hasEnded == true)
    #expect(publisher?.current() == 4)
    #expect(publisher.map { Recorder($0) }?.updates == [4])
  }

  @Test func `S14 ids and row scopes observe the ids, rows observe their content`() {
    let store = Store(Wall(cards: 3))
    let heard = Shared<[String]>([])
    func look(_ name: String, _ read: () -> Void) {
      withObservationTracking(read, onChange: { heard.append(name) })
    }

    look("ids") { _ = store.ids(in: \.cards) }
    look("rows") { _ = store.scope(rows: \.cards) }
    look("row 1") { _ = store.scope(row: 1, in: \.cards)?.number }
    look("row 2") { _ = store.scope(row: 2, in: \.cards)?.number }
    store.commit { $0.cards[id: 0]?.number = 1 }
    store.commit { $0.cards[id: 1]?.text = "same number" }
    #expect(heard.value == [])
    store.commit { $0.cards[id: 1]?.number = 1 }
    #expect(heard.value == ["row 1"])
    store.commit { $0.cards.move(id: 0, to: 2) }
    #expect(heard.value.dropFirst().sorted() == ["ids", "rows"])
    store.commit { $0.cards[id: 2] = nil }

    #expect(heard.value.last == "row 2" && heard.value.count == 4)
    #expect(store.subscriberCount == 0 && store.hasForgottenScopes)
  }

  @Test func `S14 a row that is released while another thread reads its store is forgotten`() {
    struct Slow: Sendable {
      var cards: Rows<Card> = [Card(id: 0)]
      let isReading = Gate()
      let isReleased = Gate()

      var total: Int {
        isReading.open()
        isReleased.wait()
        return cards.count
      }
    }
    let slow = Slow()
    let store = Store(slow)
    let row = store.scope(row: 0, in: \.cards)
    let recorder = Shared((row?.publisher(of: \.number)).map { Recorder($0) })
    #expect(store.subscriberCount == 1)

    onThreads(2) { thread in
      if thread == 0 {
        _ = store.total
      } else {
        slow.isReading.wait()
        recorder.value = nil
        slow.isReleased.open()
      }
    }

    // The member `total` subscribes, the row does not.
    #expect(store.subscriberCount == 1)
    withExtendedLifetime(row) {}
  }

  @Test func `S14 rows that several threads release together are forgotten on a small stack`() {
    let count = scaled(5_000)
    let store = Store(Wall(cards: 4 * count))
    let rows = (0..<4).map { part in
      Shared((0..<count).map { store.scope(row: part * count + $0, in: \.cards) })
    }

    onThreads(4, stackSize: 128 * 1_024) { part in
      while let row = rows[part].change({ $0.popLast() }) { withExtendedLifetime(row) {} }
    }

    #expect(store.hasForgottenScopes)
  }

  @Test func `S18 R14 joining a row during a delivery has no gap and no duplicate`() {
    let store = Store(Wall(cards: 8))
    let bad = Shared(0)

    onThreads(6) { thread in
      for round in 0..<scaled(1_000) {
        let id = round % 8
        if thread < 3 {
          store.commit { $0.cards[id: id]?.number += 1 }
        } else if let row = store.scope(row: id, in: \.cards) {
          let numbers = Recorder(row.publisher(of: \.number))
          let now = row.state.number
          if let first = numbers.updates.first, first > now { bad.increment() }
          store.commit { $0.edits += 1 }
          let seen = numbers.updates
          if !zip(seen, seen.dropFirst()).allSatisfy({ $1 == $0 + 1 }) {
            bad.increment()
          }
        }
      }
    }

    #expect(bad.value == 0)
    #expect(store.hasForgottenScopes)
  }

  @Test func `S18 R14 a subscriber of a row receives no commit before it joined`() {
    let store = Store(Wall(cards: 2))
    let row = store.scope(row: 1, in: \.cards)
    let first = Recorder(row!.publisher(of: \.number))
    let late = Shared<[Recorder<Int>]>([])
    let token = store.publisher(of: \.edits).dropFirst().subscribe { edits in
      if edits > 1 { return }
      for number in 1...3 { store.commit { $0.cards[id: 1]?.number = number } }
      if let row { late.append(Recorder(row.publisher(of: \.number))) }
      store.commit { $0.cards[id: 1]?.number = 4 }
    }

    store.edits = 1

    #expect(first.updates == [0, 1, 2, 3, 4])
    #expect(late.value.map(\.updates) == [[3, 4]])
    withExtendedLifetime(token) {}
  }

  @Test func `S14 an observed row reports its removal with its list`() {
    let store = Store(Wall(drawer: Drawer(cards: [Card(id: 1)])))
    let row = store.scope(ifPresent: \.drawer)?.scope(row: 1, in: \.cards)
    let heard = Shared(0)
    withObservationTracking({ _ = row?.number }, onChange: { heard.increment() })

    store.edits += 1
    #expect(heard.value == 0)
    store.drawer = nil

    #expect(heard.value >= 1)
  }

  @Test func `S17 S19 a row removed and added again gets another scope`() {
    let store = Store(Wall(cards: 1))
    let bad = Shared(0)
    let ended = Shared<[Recorder<Int>]>([])

    // A card's number only rises while the card is present. It restarts at 1,000 times its
    // generation.
    onThreads(8) { thread in
      for round in 0..<scaled(500) {
        switch thread {
        case 0: store.commit { $0.cards[id: 0] = nil }
        case 1:
          store.commit { _ = $0.cards.append(Card(id: 0, number: 1_000 * round)) }
        case 2, 3: store.commit { $0.cards[id: 0]?.number += 1 }
        default:
          guard let row = store.scope(row: 0, in: \.cards) else { continue }
          let numbers = Recorder(row.publisher(of: \.number))
          let other = store.scope(row: 0, in: \.cards)
          if row.isActive, let other, other !== row, row.isActive { bad.increment() }
          row.number += 1
          if !row.isActive { ended.append(numbers) }
          let seen = numbers.updates
          if !zip(seen, seen.dropFirst()).allSatisfy({ $1 == $0 + 1 }) {
            bad.increment()
          }
        }
      }
    }
    store.commit { $0.cards = [] }

    #expect(bad.value == 0)
    #expect(ended.value.allSatisfy { $0.hasEnded })
    ended.value = []
    #expect(store.hasForgottenScopes)
  }
}
