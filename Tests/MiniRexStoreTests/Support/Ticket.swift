import MiniRex
import MiniRexStore
import TestSupport
import Testing

struct Ticket: Identifiable, Equatable, Sendable, Codable {
  let id: Int
  var rank: Int
  var column = 0
  var owner: Int?
  var isDone = false

  init(_ id: Int, rank: Int, column: Int = 0, owner: Int? = nil, isDone: Bool = false) {
    self.id = id
    self.rank = rank
    self.column = column
    self.owner = owner
    self.isDone = isDone
  }
}

struct Person: Identifiable, Equatable, Sendable, Codable {
  let id: Int
  var name: Int
}

struct TicketBoard: Equatable, Sendable, Codable {
  var tickets: Rows<Ticket> = []
  var people: Rows<Person> = []
  var edits = 0
  var limit = 50

  init(_ count: Int = 0) {
    tickets = Rows((0..<count).map { Ticket($0, rank: count - $0) })
  }

  /// Changes one thing, or a few.
  mutating func change(_ random: inout SeededGenerator, ids: Int) {
    edits += 1
    let id = Int.random(in: 0..<ids, using: &random)
    let rank = Int.random(in: 0..<ids / 2 + 1, using: &random)
    let position = tickets.isEmpty ? 0 : Int.random(in: 0..<tickets.count, using: &random)
    let ticket = Ticket(
      id, rank: rank, column: rank % 5, owner: id % 7 == 0 ? nil : rank % 10, isDone: rank % 3 == 0)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20: tickets[id: id]?.rank = rank
    case 20..<30: tickets[id: id]?.isDone.toggle()
    case 30..<36: tickets[id: id]?.column = rank % 5
    case 36..<42: tickets[id: id]?.owner = rank % 10
    case 42..<44: tickets[id: id]?.owner = nil
    case 44..<60: tickets.append(ticket)
    case 60..<68: tickets.insert(ticket, at: position)
    case 68..<76: tickets.remove(id: id)
    case 76..<82: tickets.move(id: id, to: position)
    case 82..<84:
      let end = Int.random(in: 0...tickets.count, using: &random)
      tickets.move(fromOffsets: tickets.isEmpty ? [] : [position, position / 2], toOffset: end)
    case 84..<86: tickets.remove(atOffsets: tickets.isEmpty ? [] : [position, position / 3])
    case 86..<88:
      let end = min(tickets.count, position + 3)
      tickets.replaceSubrange(position..<end, with: [ticket, Ticket(id + 1, rank: rank)])
    case 88: tickets.sort(by: \.rank)
    case 89: tickets.removeAll { $0.id % 11 == id % 11 }
    case 90..<94: people[id: rank % 10] = Person(id: rank % 10, name: id)
    case 94: people[id: rank % 10] = nil
    case 95: limit = rank
    case 96: tickets = Rows(tickets.map(\.self))
    case 97: tickets = Rows(tickets.shuffled(using: &random).dropLast(3))
    default: break
    }
  }
}

/// An array that follows a query by its updates.
final class QueryMirror<Row: Identifiable & Equatable & Sendable>: Sendable where Row.ID: Sendable {
  private let bag = SubscriptionBag()
  private let rows = Shared<[Row]>([])
  private let published = Shared<[RowsSnapshot<Row>]>([])
  private let counts = Shared((updates: 0, values: 0, changes: 0))

  init(_ query: LiveRows<Row>) {
    query.updates.subscribe { [rows, counts] update in
      counts.change { $0.updates += 1 }
      if case .changes(let changes) = update {
        expectOrder(changes)
        counts.change { $0.changes += changes.count }
      }
      rows.change { update.apply(to: &$0) }
    }.store(in: bag)
    query.publisher.subscribe { [published, counts] rows in
      counts.change { $0.values += 1 }
      published.change { $0 = [$0.last ?? rows, rows] }
    }.store(in: bag)
  }

  var current: [Row] { rows.change { $0 } }
  var updates: Int { counts.change { $0.updates } }
  var changes: Int { counts.change { $0.changes } }

  /// Compares the mirror, the published value, and its changes since the previous value.
  ///
  /// - Parameter isSerial: `true` if no other thread has committed while the mirror subscribed.
  func expect(
    _ expected: some Sequence<Row>, isSerial: Bool = true,
    _ place: SourceLocation = #_sourceLocation
  ) {
    let expected = Array(expected)
    let published = published.change { $0 }
    #expect(current == expected, sourceLocation: place)
    #expect(Array(published[1]) == expected, sourceLocation: place)
    #expect(published[1].indices.map { published[1][$0] } == expected, sourceLocation: place)
    var rows = Array(published[0])
    let changes = published[1].changes(since: published[0])
    if let changes { RowsUpdate.changes(changes).apply(to: &rows) }
    #expect(rows == expected && changes != nil, sourceLocation: place)
    if isSerial { #expect(counts.change { $0.updates == $0.values }, sourceLocation: place) }
  }
}

/// Expects removals, then insertions and moves, then updates, each ascending.
private func expectOrder<Row>(_ changes: [RowsChange<Row>]) {
  let order = changes.map { change in
    switch change {
    case .removed(_, let position): (0, position)
    case .inserted(_, let position), .moved(_, _, let position): (1, position)
    case .updated(_, let position): (2, position)
    }
  }
  #expect(!order.isEmpty)
  #expect(zip(order, order.dropFirst()).allSatisfy(<), "\(changes)")
}
