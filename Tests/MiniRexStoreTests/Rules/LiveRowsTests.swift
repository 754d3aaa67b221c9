import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexStore

/// The rules of live queries.
@Suite(.light) struct LiveRowsTests {
  let store = Store<TicketBoard, Never>(TicketBoard(20))

  @Test func `Q1 one commit emits one update`() {
    let open = store.live(\.tickets).filter { !$0.isDone }.sorted(by: \.rank)
    let updates = Recorder(open.updates.map { "\($0)" })
    let sums = Recorder(
      combineLatest(
        store.publisher(of: \.edits), open.count, store.live(\.tickets).filter(\.isDone).count
      ) { [$0, $1, $2] })

    store.commit { state in
      state.edits += 1
      for id in 3..<9 { state.tickets[id: id]?.isDone = true }
      state.tickets[id: 0]?.rank = -1
      state.tickets.append(Ticket(20, rank: 4))
    }
    store.commit { $0.tickets[id: 3]?.rank = 99 }

    #expect(updates.updates.count == 2)
    #expect(sums.updates == [[0, 20, 0], [1, 15, 6]])
  }

  @Test func `Q1 a move emits no update of a row that has not changed`() {
    let tickets = store.live(\.tickets)
    let half = tickets.map { Ticket($0.id, rank: $0.rank / 2) }.sorted(by: \.id)
    let groups = tickets.grouped { $0.id % 2 }.sorted(by: \.id)
    let joined = tickets.joined(with: store.live(\.people).sorted(by: \.name), on: \.owner)
      .sorted { $0.id }
    let halves = Recorder(half.updates.map { "\($0)" })
    let groupUpdates = Recorder(groups.updates)
    let joins = Recorder(joined.updates.map { "\($0)" })

    // The order in each group stays the same.
    store.commit { $0.tickets.move(id: 3, to: 4) }
    store.commit { state in
      state.tickets.move(id: 3, to: 3)
      state.tickets[id: 3]?.rank ^= 1
    }
    #expect(halves.updates.count == 1)
    #expect(groupUpdates.updates.count == 2)
    #expect(joins.updates.count == 2)

    store.commit { $0.tickets.move(id: 3, to: 7) }
    #expect(halves.updates.count == 1)
    #expect(joins.updates.count == 2)
    guard case .changes(let changes) = groupUpdates.updates.last else {
      Issue.record()
      return
    }
    #expect(changes.map(\.description) == ["updated 1 at 1"])
  }

  @Test func `Q2 a moved row of a join shows that its other row has changed`() {
    let store = Store<TicketBoard, Never>(TicketBoard(6))
    store.commit { state in
      state.people = [Person(id: 1, name: 1), Person(id: 2, name: 2)]
      for id in 0..<6 { state.tickets[id: id]?.owner = 1 + id % 2 }
    }
    let joined = store.live(\.tickets).joined(with: store.live(\.people), on: \.owner)
    let sorted = QueryMirror(joined.sorted { -$0.id })
    let owned = QueryMirror(joined.filter { $0.other != nil })
    let again = QueryMirror(joined.joined(with: joined) { $0.row.owner })

    store.commit { state in
      state.tickets.move(id: 1, to: 4)
      state.people.remove(id: 2)
    }

    let rows = store.state.tickets.map {
      JoinedRow($0, $0.owner.flatMap { store.state.people[id: $0] })
    }
    sorted.expect(rows.sorted { $0.id > $1.id })
    owned.expect(rows.filter { $0.other != nil })
    let byID = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    again.expect(rows.map { row in JoinedRow(row, row.row.owner.flatMap { byID[$0] }) })
    #expect(sorted.updates == 2 && owned.updates == 2 && again.updates == 2)
  }

  @Test func `Q2 applying the changes to the previous rows gives the next rows`() {
    let tickets = store.live(\.tickets).sorted(by: \.rank).prefix(4)
    let updates = Recorder(tickets.updates)
    let mirror = QueryMirror(tickets)

    store.commit { state in
      state.tickets[id: 19] = nil
      state.tickets[id: 16]?.rank = -1
      state.tickets[id: 18]?.isDone = true
      state.tickets.append(Ticket(20, rank: 0))
    }

    guard case .changes(let changes) = updates.updates.last else {
      Issue.record()
      return
    }
    #expect(
      changes.map(\.description) == [
        "removed 19 at 0", "moved 16 from 3 to 0", "inserted 20 at 1", "updated 18 at 2",
      ])
    mirror.expect(store.state.tickets.sorted { $0.rank < $1.rank }.prefix(4))
  }

  @Test(arguments: [100, 10_000])
  func `Q3 predicates and keys run once per changed row`(count: Int) {
    let calls = Shared((tests: 0, keys: 0, results: 0, groups: 0, references: 0, values: 0))
    let store = Store<TicketBoard, Never>(TicketBoard(count))
    let open = store.live(\.tickets)
      .filter { ticket in
        calls.change { $0.tests += 1 }
        return !ticket.isDone
      }.sorted { ticket in
        calls.change { $0.keys += 1 }
        return ticket.rank
      }.map { ticket in
        calls.change { $0.results += 1 }
        return ticket
      }.grouped { ticket in
        calls.change { $0.groups += 1 }
        return ticket.column
      }
    let joined = store.live(\.tickets).joined(with: store.live(\.people)) { ticket in
      calls.change { $0.references += 1 }
      return ticket.owner
    }
    let sum = store.live(\.tickets).reduce(
      0,
      { ticket in
        calls.change { $0.values += 1 }
        return ticket.rank
      }, +)
    let bag = SubscriptionBag()
    for _ in 0..<2 {
      open.updates.subscribe { _ in }.store(in: bag)
      open.publisher.subscribe { _ in }.store(in: bag)
      open.count.subscribe { _ in }.store(in: bag)
      joined.updates.subscribe { _ in }.store(in: bag)
      sum.subscribe { _ in }.store(in: bag)
    }
    let first = calls.value
    #expect([first.tests, first.keys, first.results, first.groups].allSatisfy { $0 == count })
    #expect(first.references == count && first.values == count)

    store.commit { $0.tickets[id: 7]?.rank = 50 }
    store.commit { $0.tickets.insert(Ticket(count, rank: 3), at: 2) }
    store.commit { $0.edits += 1 }
    store.commit { $0.people.append(Person(id: 1, name: 1)) }
    store.commit { $0.tickets.remove(id: 9) }
    store.commit { state in
      state.tickets[id: 8]?.rank = 1
      state.tickets[id: 8]?.column = 1
    }

    let second = calls.value
    #expect(second.tests - first.tests == 3 && second.keys - first.keys == 3)
    #expect(second.results - first.results == 3 && second.groups - first.groups == 3)
    #expect(second.references - first.references == 3 && second.values - first.values == 3)
    withExtendedLifetime(bag) {}
  }

  @Test func `Q4 equal keys keep the order of the source`() {
    struct Score: Identifiable, Sendable, Equatable {
      let id: Int
      var points: Double
    }
    let points: [Double] = [1, .nan, 1, 0, .nan, 1]
    let scores = PublishedProperty(
      Rows(points.enumerated().map { Score(id: $0.offset, points: $0.element) }))
    let ranked = scores.publisher.live().sorted(by: \.points)
    let order = Recorder(ranked.publisher.map { $0.map(\.id) })
    #expect(order.updates.last == [3, 0, 2, 5, 1, 4])

    scores.value.insert(Score(id: 6, points: 1), at: 1)
    #expect(order.updates.last == [3, 0, 6, 2, 5, 1, 4])
    scores.value.move(id: 5, to: 0)
    #expect(order.updates.last == [3, 5, 0, 6, 2, 1, 4])
    scores.value[id: 0]?.points = .nan
    #expect(order.updates.last == [3, 5, 6, 2, 0, 1, 4])
    scores.value[id: 1]?.points = 1
    #expect(order.updates.last == [3, 5, 6, 1, 2, 0, 4])
    scores.value.remove(id: 4)
    scores.value[id: 0] = nil
    #expect(order.updates.last == [3, 5, 6, 1, 2])
  }

  @Test func `Q4 keys that break the rules of Comparable lose no row`() {
    struct Odd: Comparable, Sendable {
      let value: Int
      static func < (one: Odd, other: Odd) -> Bool { (other.value - one.value) % 3 == 1 }
    }
    let ranked = store.live(\.tickets).sorted { Odd(value: $0.rank) }
    let rows = Shared<[Int]>([])
    let subscription = ranked.updates.subscribe { update in
      var tickets: [Ticket] = []
      if case .all(let all) = update { tickets = Array(all) }
      rows.value = tickets.map(\.id)
    }
    var random = SeededGenerator(seed: 4)
    for _ in 0..<scaled(200) {
      store.commit { $0.change(&random, ids: 30) }
      #expect(ranked.current().map(\.id).sorted() == store.state.tickets.ids.sorted())
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `Q5 nothing is retained while nobody subscribes`() async {
    let tests = Shared(0)
    weak var key: Key?
    let ranked = store.live(\.tickets)
      .filter { _ in tests.increment() > 0 }
      .sorted { ticket in Key(ticket.rank) }
    #expect(tests.value == 0 && store.subscriberCount == 0)
    #expect(ranked.current().map(\.id) == Array((0..<20).reversed()))
    #expect(tests.value == 20 && store.subscriberCount == 0)

    do {
      let keys = Shared<[Key]>([])
      let query = store.live(\.tickets).sorted { ticket in
        let key = Key(ticket.rank)
        keys.change { $0.append(key) }
        return key
      }
      let subscriptions = [
        query.publisher.subscribe { _ in }, query.updates.subscribe { _ in },
      ]
      key = keys.value.first
      keys.value = []
      #expect(key != nil && store.subscriberCount == 2)
      store.commit { $0.tickets[id: 3]?.rank = 30 }
      subscriptions[0].invalidate()
      #expect(key != nil)
      subscriptions[1].invalidate()
      #expect(store.subscriberCount == 0)
      #expect(key == nil)
      #expect(query.current().last?.id == 3)
    }
  }

  @Test func `Q6 a late subscriber receives all rows first`() {
    let open = store.live(\.tickets).filter { !$0.isDone }
    let early = Recorder(open.updates.map { "\($0)" })
    for id in 0..<5 { store.commit { $0.tickets[id: id]?.isDone = true } }
    let copy = open
    let late = Recorder(copy.updates)
    store.commit { $0.tickets[id: 5]?.isDone = true }

    #expect(early.updates.count == 7)
    #expect(late.updates.count == 2)
    if case .all(let rows) = late.updates[0] {
      #expect(rows.map(\.id) == Array(5..<20))
    } else {
      Issue.record()
    }
    if case .changes(let changes) = late.updates[1] {
      #expect(changes == [.removed(5, at: 0)])
    } else {
      Issue.record()
    }
  }

  @Test func `Q6 a subscriber that joins inside an update receives the present rows`() {
    let open = store.live(\.tickets).filter { !$0.isDone }
    let bag = SubscriptionBag()
    let counts = Shared<[Int]>([])
    open.count.subscribe { count in
      if count != 19 { return }
      store.commit { $0.tickets[id: 1]?.isDone = true }
      open.count.subscribe { count in counts.change { $0.append(count) } }.store(in: bag)
    }.store(in: bag)
    store.commit { $0.tickets[id: 0]?.isDone = true }

    #expect(counts.value == [18])
    bag.invalidate()
  }

  @Test func `Q7 a changed parameter of a query is one update`() {
    let limit = PublishedProperty(5)
    let tests = Shared(0)
    let below = store.live(\.tickets)
      .filter(by: limit.publisher) { ticket, limit in
        tests.increment()
        return ticket.rank < limit
      }.sorted(by: \.rank)
    let mirror = QueryMirror(below)
    mirror.expect(store.state.tickets.reversed().prefix(4))

    tests.value = 0
    limit.value = 8
    #expect(mirror.updates == 2 && mirror.changes == 3 && tests.value == 20)
    limit.value = 7
    #expect(mirror.updates == 3 && mirror.changes == 4)
    store.commit { $0.tickets[id: 0]?.rank = 0 }
    #expect(mirror.updates == 4 && mirror.changes == 5 && tests.value == 41)
    limit.value = 0
    #expect(mirror.updates == 5)
    mirror.expect([])
  }

  @Test func `Q7 a parameter from the same store changes with the rows`() {
    let below = store.live(\.tickets)
      .filter(by: store.publisher(of: \.limit)) { $0.rank < $1 }
    let mirror = QueryMirror(below)
    store.commit { state in
      state.limit = 3
      state.tickets[id: 0]?.rank = 1
    }
    #expect(mirror.updates == 2)
    mirror.expect(store.state.tickets.filter { $0.rank < 3 })
  }

  @Test func `Q8 undo, replacement, and decoding emit minimal changes`() throws {
    let store = Store<TicketBoard, Never>(TicketBoard(1_000))
    let history = History(of: store)
    let mirror = QueryMirror(store.live(\.tickets).filter { !$0.isDone }.sorted(by: \.rank))

    store.commit { $0.tickets[id: 500]?.isDone = true }
    store.commit { $0.tickets.move(id: 3, to: 700) }
    store.commit { $0.tickets[id: 4]?.rank = -1 }
    #expect(mirror.changes == 2)
    history.undo()
    history.undo()
    history.undo()
    #expect(mirror.changes == 4)
    mirror.expect(store.state.tickets.reversed())

    var rows = Array(store.state.tickets)
    rows[7].isDone = true
    rows.remove(at: 9)
    rows.insert(Ticket(1_000, rank: 0), at: 9)
    store.commit { $0.tickets = Rows(rows) }
    #expect(mirror.changes == 7)

    let shown = QueryMirror(store.live(\.tickets))
    rows.swapAt(20, 900)
    rows[30].rank = 4
    let data = try JSONEncoder().encode(rows)
    let decoded = try JSONDecoder().decode(Rows<Ticket>.self, from: data)
    store.commit { $0.tickets = decoded }
    #expect(shown.changes == 3 && shown.updates == 2)
    shown.expect(rows)
  }

  @Test(arguments: [0, 1])
  func `Q8 more than max(64, count / 8) changes are one update with all rows`(more: Int) {
    let store = Store<TicketBoard, Never>(TicketBoard(1_000))
    let updates = Recorder(store.live(\.tickets).updates)
    store.commit { state in
      for id in 0..<(125 + more) { state.tickets[id: id]?.rank = -1 }
    }
    switch updates.updates.last {
    case .all(let rows): #expect(more == 1 && rows.count == 1_000)
    case .changes(let changes): #expect(more == 0 && changes.count == 125)
    case nil: Issue.record()
    }
  }

  @Test func `Q9 commits and subscribers may be on any threads`() {
    let open = store.live(\.tickets).filter { !$0.isDone }.sorted(by: \.rank)
    let mirrors = Shared<[QueryMirror<Ticket>]>([])
    onThreads(4) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for round in 0..<scaled(200) {
        store.commit { $0.change(&random, ids: 40) }
        if round.isMultiple(of: 20) {
          let mirror = QueryMirror(open)
          mirrors.change { $0.append(mirror) }
        }
      }
    }
    let all = mirrors.value
    let expected = store.state.tickets.filter { !$0.isDone }
      .enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
    for mirror in all { mirror.expect(expected.map(\.element), isSerial: false) }
  }

  @Test func `Q10 a snapshot is a value`() {
    let tickets = store.live(\.tickets)
    let subscription = tickets.publisher.subscribe { _ in }
    let old = tickets.current()
    let before = Array(old)
    store.commit { $0.tickets.remove(id: 4) }
    store.commit { $0.tickets[id: 5]?.rank = 100 }
    let new = tickets.current()

    #expect(Array(old) == before && new.count == 19)
    #expect(new.changes(since: old) == [.removed(4, at: 4), .updated(new[4], at: 4)])
    #expect(old.changes(since: new) == [.inserted(before[4], at: 4), .updated(before[5], at: 5)])
    #expect(new.changes(since: new) == [])
    #expect(new.changes(since: store.live(\.tickets).current()) == nil)
    #expect(tickets.filter { _ in true }.current().changes(since: new) == nil)
    withExtendedLifetime(subscription) {}
  }
}

private final class Key: Comparable, Sendable {
  private let rank: Int

  init(_ rank: Int) { self.rank = rank }

  static func < (one: Key, other: Key) -> Bool { one.rank < other.rank }
  static func == (one: Key, other: Key) -> Bool { one.rank == other.rank }
}
