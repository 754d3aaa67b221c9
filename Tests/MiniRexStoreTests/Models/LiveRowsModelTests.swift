import MiniRex
import TestSupport
import Testing

@testable import MiniRexStore

/// Mirrors of all operators beside results that are computed again after each commit.
@Suite(.light) struct LiveRowsModelTests {
  /// `MINIREX_SCALE=800` makes 1,000,000 mutations.
  @Test(arguments: [6, 40, 400])
  func `mirrors of all operators equal results computed again after random changes`(
    ids: Int
  ) {
    var random = SeededGenerator(seed: UInt64(ids))
    let store = Store<TicketBoard, Never>(TicketBoard())
    let mirrors = QueryMirrors(store)
    let rounds = scaled(ids > 100 ? 300 : 500)
    var undone = store.state
    for round in 0..<rounds {
      switch Int.random(in: 0..<60, using: &random) {
      case 0: undone = store.state
      case 1: store.commit { $0 = undone }
      case 2: store.commit { state in for _ in 0..<5 { state.change(&random, ids: ids) } }
      default: store.commit { $0.change(&random, ids: ids) }
      }
      if ids < 100 || round.isMultiple(of: 8) { mirrors.expect(store.state) }
    }
    mirrors.expect(store.state)
  }

  @Test func `a change of one row is minimal in every query`() {
    var random = SeededGenerator(seed: 3)
    var board = TicketBoard(500)
    for _ in 0..<500 { board.change(&random, ids: 500) }
    let store = Store<TicketBoard, Never>(board)
    let mirrors = QueryMirrors(store)
    for id in store.state.tickets.ids.prefix(100) {
      let before = mirrors.changes
      store.commit { $0.tickets[id: id]?.rank += 17 }
      #expect(zip(before, mirrors.changes).allSatisfy { $1 - $0 <= 2 })
    }
    mirrors.expect(store.state)
  }

  @Test(arguments: [0, 1, 2, 31, 32, 33, 512, 513, 5_000])
  func `a position tree equals an array`(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var array = Array(0..<count)
    var tree = PositionTree<Int, Int>(array)
    var kept = [(tree, array)]
    for round in 0..<scaled(2_000) {
      let position = Int.random(in: 0...array.count, using: &random)
      let isGrowing = (round / 700).isMultiple(of: 2)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<(isGrowing ? 7 : 2):
        tree.insert(round, at: position)
        array.insert(round, at: position)
      case 7 where position < array.count:
        tree[position] = round
        array[position] = round
      default:
        if position == array.count { continue }
        #expect(tree.remove(at: position) == array.remove(at: position))
      }
      if round.isMultiple(of: 100) {
        #expect(tree.count == array.count)
        #expect(Array(tree) == array)
        kept.append((tree, array))
      }
    }
    #expect(array.indices.allSatisfy { tree[$0] == array[$0] })
    for (tree, array) in kept { #expect(Array(tree) == array) }
  }

  @Test(arguments: [0, 1, 256, 257, 10_000])
  func `an inclusion tree equals an array`(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var array = (0..<count).map { _ in Bool.random(using: &random) }
    var tree = InclusionTree(count: count) { array[$0] }
    for round in 0..<scaled(4_000) {
      let position = Int.random(in: 0...array.count, using: &random)
      let isGrowing = (round / 1_500).isMultiple(of: 2)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<(isGrowing ? 7 : 2):
        let isIncluded = Bool.random(using: &random)
        tree.insert(isIncluded, at: position)
        array.insert(isIncluded, at: position)
      case 7 where position < array.count:
        tree[position].toggle()
        array[position].toggle()
      default:
        if position == array.count { continue }
        tree.remove(at: position)
        array.remove(at: position)
      }
      if !round.isMultiple(of: 100) { continue }
      let included = array.indices.filter { array[$0] }
      #expect(tree.flags == array)
      #expect(tree.count == array.count)
      #expect(tree.includedCount == included.count)
      for (rank, position) in included.enumerated().filter({ $0.offset.isMultiple(of: 37) }) {
        #expect(tree.position(rank: rank) == position)
        #expect(tree.find(position) == (true, rank))
      }
    }
  }

  @Test(arguments: [1, 32, 1_000, 9_000])
  func `a search in a position tree equals a search in an array`(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var array = (0..<count).map { $0 * 10 }
    var tree = PositionTree<Int, Never>(array)
    for _ in 0..<scaled(2_000) {
      let number = Int.random(in: -5...(count * 10), using: &random)
      let place = array.partition { $0 >= number }
      let (position, element) = tree.search { $0 >= number }
      #expect(position == place)
      #expect(element == (place < array.count ? array[place] : nil))
      if place < array.count, Bool.random(using: &random) {
        let (before, behind) = tree.neighbors(of: place)
        #expect(before == (place > 0 ? array[place - 1] : nil))
        #expect(behind == (place + 1 < array.count ? array[place + 1] : nil))
        tree.remove(at: place)
        array.remove(at: place)
      } else {
        tree.insert(number, at: place)
        array.insert(number, at: place)
      }
    }
  }

  @Test func `insertions at one place keep the order of a source`() {
    var order = SourceOrder()
    var handles: [UInt32] = []
    var random = SeededGenerator(seed: 1)
    for round in 0..<3_000 {
      let position =
        round < 2_000 ? min(5, handles.count) : Int.random(in: 0...round, using: &random)
      let handle = order.insert(at: position)
      handles.insert(handle, at: position)
    }
    #expect(zip(handles, handles.dropFirst()).allSatisfy { order.isBefore($0, $1) })
    #expect(handles.indices.allSatisfy { order.position(of: handles[$0]) == $0 })
  }
}

/// Mirrors of one query for each operator, and of some chains.
private struct QueryMirrors {
  typealias Query = LiveRows<Ticket>

  let plain: QueryMirror<Ticket>
  let open: QueryMirror<Ticket>
  let ranked: QueryMirror<Ticket>
  let openRanked: QueryMirror<Ticket>
  let rankedOpen: QueryMirror<Ticket>
  let first: QueryMirror<Ticket>
  let limited: QueryMirror<Ticket>
  let negated: QueryMirror<Ticket>
  let groups: QueryMirror<TicketGroup>
  let joined: QueryMirror<JoinedRow<Ticket, Person>>
  let openJoined: QueryMirror<JoinedRow<Ticket, Person>>
  let count: LastValue<Int>
  let ids: LastValue<[Int]>

  init(_ store: Store<TicketBoard, Never>) {
    let tickets = store.live(\.tickets)
    plain = QueryMirror(tickets)
    open = QueryMirror(tickets.filter { !$0.isDone })
    ranked = QueryMirror(tickets.sorted(by: \.rank))
    openRanked = QueryMirror(tickets.filter { !$0.isDone }.sorted(by: \.rank))
    rankedOpen = QueryMirror(tickets.sorted(by: \.column).sorted(by: \.rank).filter { !$0.isDone })
    first = QueryMirror(tickets.sorted(by: \.rank).prefix(7))
    limited = QueryMirror(
      tickets.filter(by: store.publisher(of: \.limit)) { $0.rank < $1 }.sorted(by: \.rank))
    negated = QueryMirror(tickets.map { Ticket(-$0.id, rank: -$0.rank) }.sorted(by: \.rank))
    groups = QueryMirror(
      tickets.sorted(by: \.rank).grouped(by: \.column).map {
        TicketGroup(id: $0.id, tickets: Array($0.rows))
      })
    joined = QueryMirror(tickets.joined(with: store.live(\.people), on: \.owner))
    openJoined = QueryMirror(
      tickets.filter { !$0.isDone }
        .joined(with: store.live(\.people).filter { $0.name % 2 == 0 }, on: \.owner))
    count = LastValue(tickets.filter { !$0.isDone }.count)
    ids = LastValue(tickets.sorted(by: \.rank).reduce([], { [$0.id] }, +))
  }

  var changes: [Int] {
    [plain, open, ranked, openRanked, rankedOpen, first, negated].map(\.changes) + [groups.changes]
  }

  func expect(_ board: TicketBoard) {
    let tickets = Array(board.tickets)
    let ranked = stable(tickets, by: \.rank)
    plain.expect(tickets)
    open.expect(tickets.filter { !$0.isDone })
    self.ranked.expect(ranked)
    openRanked.expect(ranked.filter { !$0.isDone })
    rankedOpen.expect(stable(stable(tickets, by: \.column), by: \.rank).filter { !$0.isDone })
    first.expect(ranked.prefix(7))
    limited.expect(ranked.filter { $0.rank < board.limit })
    negated.expect(stable(tickets.map { Ticket(-$0.id, rank: -$0.rank) }, by: \.rank))
    groups.expect(grouped(ranked))
    joined.expect(tickets.map { JoinedRow($0, $0.owner.flatMap { board.people[id: $0] }) })
    let even = Rows(board.people.filter { $0.name % 2 == 0 })
    openJoined.expect(
      tickets.filter { !$0.isDone }.map { JoinedRow($0, $0.owner.flatMap { even[id: $0] }) })
    #expect(count.last == tickets.count { !$0.isDone })
    #expect(ids.last == ranked.map(\.id))
  }

  private func stable(_ tickets: [Ticket], by key: (Ticket) -> Int) -> [Ticket] {
    tickets.enumerated().sorted { (key($0.element), $0.offset) < (key($1.element), $1.offset) }
      .map(\.element)
  }

  private func grouped(_ tickets: [Ticket]) -> [TicketGroup] {
    var columns: [Int] = []
    for ticket in tickets where !columns.contains(ticket.column) { columns.append(ticket.column) }
    return columns.map { column in
      TicketGroup(id: column, tickets: tickets.filter { $0.column == column })
    }
  }
}

private struct TicketGroup: Identifiable, Equatable, Sendable {
  let id: Int
  let tickets: [Ticket]
}

/// The last value, without the earlier values.
private final class LastValue<Value: Sendable>: Sendable {
  private let value = Shared<Value?>(nil)
  private let bag = SubscriptionBag()

  init(_ publisher: PublishedValue<Value>) {
    publisher.subscribe { [value] new in value.change { $0 = new } }.store(in: bag)
  }

  var last: Value? { value.change { $0 } }
}
