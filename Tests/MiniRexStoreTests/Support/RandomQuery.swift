import TestSupport

@testable import MiniRexStore

/// Receives a random query with its recomputation.
protocol QueryVisitor {
  func visit<Row: ModelRow>(_ query: LiveRows<Row>, _ naive: NaiveQuery)
}

/// The rows of a query, computed from the state, and the operators in its text.
struct NaiveQuery: Sendable {
  let text: String
  let rows: @Sendable (TicketBoard) -> [PlainRow]

  func then(
    _ name: String, _ change: @escaping @Sendable ([PlainRow], TicketBoard) -> [PlainRow]
  ) -> NaiveQuery {
    NaiveQuery(text: "\(text).\(name)") { [rows] in change(rows($0), $0) }
  }
}

/// Makes queries of random operators before and behind joins.
final class RandomQueries {
  let store: Store<TicketBoard, Never>
  var random: SeededGenerator

  init(_ store: Store<TicketBoard, Never>, seed: UInt64) {
    self.store = store
    random = SeededGenerator(seed: seed)
  }

  func make(_ depth: Int, _ visitor: some QueryVisitor) {
    let naive = NaiveQuery(text: "tickets") { $0.tickets.map(\.plain) }
    let people = NaiveQuery(text: "people") { $0.people.map(\.plain) }
    if pick(5) == 0 {
      grow(store.live(\.people), people, depth, visitor)
    } else {
      grow(store.live(\.tickets), naive, depth, visitor)
    }
  }

  private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private func grow<Row: ModelRow>(
    _ query: LiveRows<Row>, _ naive: NaiveQuery, _ depth: Int, _ visitor: some QueryVisitor
  ) {
    if depth == 0 { return visitor.visit(query, naive) }
    let next = depth - 1
    switch pick(16) {
    case 0, 1:
      let rest = pick(3)
      grow(
        query.filter { $0.plain.rank % 3 != rest },
        naive.then("filter") { rows, _ in rows.filter { $0.rank % 3 != rest } }, next, visitor)
    case 2:
      grow(
        query.filter(by: store.publisher(of: \.limit)) { $0.plain.rank < $1 },
        naive.then("filter(by:)") { rows, board in rows.filter { $0.rank < board.limit } },
        next, visitor)
    case 3:
      grow(
        query.sorted { $0.plain.rank },
        naive.then("sorted(rank)") { rows, _ in stable(rows) { $0.rank } }, next, visitor)
    case 4:
      grow(
        query.sorted { -$0.plain.id },
        naive.then("sorted(-id)") { rows, _ in stable(rows) { -$0.id } },
        next, visitor)
    case 5:
      grow(
        query.sorted { $0.plain.column },
        naive.then("sorted(column)") { rows, _ in stable(rows) { $0.column } }, next, visitor)
    case 6, 7:
      grow(
        query.map { SimplifiedRow($0) },
        naive.then("map") { rows, _ in rows.map(PlainRow.simplified) }, next, visitor)
    case 8, 9:
      let count = pick(6)
      grow(
        query.prefix(count),
        naive.then("prefix(\(count))") { rows, _ in Array(rows.prefix(count)) },
        next, visitor)
    case 10, 11:
      grow(
        query.grouped { $0.plain.column },
        naive.then("grouped") { rows, _ in
          var columns: [Int] = []
          for row in rows where !columns.contains(row.column) { columns.append(row.column) }
          return columns.map { column in .group(column, rows.filter { $0.column == column }) }
        }, next, visitor)
    default: make(pick(depth), Joining(self, query, naive, next, visitor))
    }
  }

  /// Joins a query with the visited query.
  private struct Joining<Row: ModelRow, Next: QueryVisitor>: QueryVisitor {
    let queries: RandomQueries
    let query: LiveRows<Row>
    let naive: NaiveQuery
    let depth: Int
    let next: Next

    init(
      _ queries: RandomQueries, _ query: LiveRows<Row>, _ naive: NaiveQuery, _ depth: Int,
      _ next: Next
    ) {
      self.queries = queries
      self.query = query
      self.naive = naive
      self.depth = depth
      self.next = next
    }

    func visit<Other: ModelRow>(_ other: LiveRows<Other>, _ otherNaive: NaiveQuery) {
      queries.grow(
        query.joined(with: other) { $0.plain.owner },
        naive.then("joined(\(otherNaive.text))") { rows, board in
          let others = Dictionary(uniqueKeysWithValues: otherNaive.rows(board).map { ($0.id, $0) })
          return rows.map { row in .joined(row, row.owner.flatMap { others[$0] }) }
        }, depth, next)
    }
  }
}

private func stable(_ rows: [PlainRow], _ key: (PlainRow) -> Int) -> [PlainRow] {
  rows.enumerated().sorted { (key($0.element), $0.offset) < (key($1.element), $1.offset) }
    .map(\.element)
}
