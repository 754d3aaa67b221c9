import MiniRex
import TestSupport
import Testing

@testable import MiniRexStore

/// Queries of random operators before and behind joins, beside results that are computed again.
@Suite(.light) struct JoinModelTests {
  @Test func `Q2 random queries with joins equal results computed again`() {
    var faults: [String] = []
    var updates = 0
    for seed in 0..<UInt64(scaled(60)) {
      let store = Store<TicketBoard, Never>(TicketBoard())
      var random = SeededGenerator(seed: seed)
      for _ in 0..<40 { store.commit { $0.change(&random, ids: 16) } }
      let mirrors = Mirrors()
      RandomQueries(store, seed: seed).make(1 + Int(seed % 5), mirrors)
      for round in 0..<25 {
        store.commit { state in
          for _ in 0..<[1, 1, 2, 5][round % 4] { state.changeSides(&random, ids: 16) }
        }
        let found = mirrors.faults(in: store.state)
        if !found.isEmpty { faults.append("seed \(seed), round \(round), \(found[0])") }
        if !found.isEmpty { break }
      }
      updates += mirrors.updates
    }
    #expect(faults == [])
    #expect(updates > scaled(60))
  }

  @Test func `Q9 random queries with joins agree with commits of several threads`() {
    var faults: [String] = []
    for seed in 0..<UInt64(scaled(8)) {
      let store = Store<TicketBoard, Never>(TicketBoard(12))
      let mirrors = Mirrors()
      let queries = RandomQueries(store, seed: seed)
      for depth in 1...3 { queries.make(depth, mirrors) }
      onThreads(3) { thread in
        var random = SeededGenerator(seed: seed * 10 + UInt64(thread))
        for round in 0..<30 {
          store.commit { $0.changeSides(&random, ids: 16) }
          if round == 15, thread == 0 {
            RandomQueries(store, seed: seed + 1_000).make(3, mirrors)
          }
        }
      }
      if let fault = mirrors.faults(in: store.state).first {
        faults.append("seed \(seed), \(fault)")
      }
    }
    #expect(faults == [])
  }
}

/// Mirrors of the visited queries.
private struct Mirrors: QueryVisitor {
  private let mirrors = Shared<[PlainMirror]>([])

  func visit<Row: ModelRow>(_ query: LiveRows<Row>, _ naive: NaiveQuery) {
    let mirror = PlainMirror(query, naive)
    mirrors.change { $0.append(mirror) }
  }

  var updates: Int { mirrors.value.reduce(0) { $0 + $1.updates } }

  func faults(in board: TicketBoard) -> [String] {
    mirrors.value.flatMap { $0.faults(in: board) }
  }
}

extension TicketBoard {
  /// Changes the tickets, the people to which they refer, or both.
  fileprivate mutating func changeSides(_ random: inout SeededGenerator, ids: Int) {
    let person = Int.random(in: 0..<10, using: &random)
    let name = Int.random(in: 0..<9, using: &random)
    let ticket = tickets.randomElement(using: &random)
    let (place, target) = (
      Int.random(in: 0..<max(1, tickets.count), using: &random),
      Int.random(in: 0..<max(1, people.count), using: &random)
    )
    switch Int.random(in: 0..<12, using: &random) {
    case 0: people.remove(id: person)
    case 1: people[id: person] = Person(id: person, name: name)
    case 2 where !people.isEmpty: people.move(id: person, to: target)
    case 3: people.sort(by: \.name)
    case 4:
      guard let ticket else { return }
      tickets.move(id: ticket.id, to: place)
      guard let owner = ticket.owner else { return }
      people[id: owner] = name % 2 == 0 ? nil : Person(id: owner, name: name)
    case 5:
      guard let ticket else { return }
      tickets.move(id: ticket.id, to: place)
      tickets[id: ticket.id]?.rank ^= name % 4
    case 6: if let ticket { tickets.move(id: ticket.id, to: place) }
    default: change(&random, ids: ids)
    }
  }
}
