@testable import MiniRexStore

/// A row of a random query, with the content that a recomputation compares.
protocol ModelRow: Identifiable, Sendable where ID == Int {
  var plain: PlainRow { get }
}

/// A row without its type.
struct PlainRow: Equatable, Sendable {
  var id: Int
  var rank: Int
  var column: Int
  var owner: Int?
  var isDone: Bool
  /// Everything that the row contains.
  var content: String

  static func joined(_ row: PlainRow, _ other: PlainRow?) -> PlainRow {
    PlainRow(
      id: row.id, rank: row.rank + (other?.rank ?? -20), column: other?.column ?? row.column,
      owner: other?.owner ?? row.owner, isDone: row.isDone != (other?.isDone ?? false),
      content: "(\(row.content) \(other?.content ?? "-"))")
  }

  /// Different rows can have equal results.
  static func simplified(_ row: PlainRow) -> PlainRow {
    PlainRow(
      id: row.id, rank: row.rank / 4, column: row.column, owner: row.owner, isDone: row.isDone,
      content: "s\(row.id) \(row.rank / 4) \(row.column) \(row.owner ?? -1) \(row.isDone)")
  }

  static func group(_ key: Int, _ rows: [PlainRow]) -> PlainRow {
    PlainRow(
      id: key, rank: rows.reduce(0) { $0 + $1.rank }, column: rows.count, owner: rows[0].id % 10,
      isDone: rows[0].isDone, content: "\(key)[\(rows.map(\.content).joined(separator: " "))]")
  }
}

extension Ticket: ModelRow {
  var plain: PlainRow {
    PlainRow(
      id: id, rank: rank, column: column, owner: owner, isDone: isDone,
      content: "t\(id) \(rank) \(column) \(owner ?? -1) \(isDone)")
  }
}

extension Person: ModelRow {
  var plain: PlainRow {
    PlainRow(
      id: id, rank: name, column: name % 4, owner: name % 7, isDone: name % 2 == 0,
      content: "p\(id) \(name)")
  }
}

extension JoinedRow: ModelRow where Row: ModelRow, Other: ModelRow {
  var plain: PlainRow { .joined(row.plain, other?.plain) }
}

extension RowsGroup: ModelRow where Key == Int, Row: ModelRow {
  var plain: PlainRow { .group(id, rows.map(\.plain)) }
}

struct SimplifiedRow: ModelRow, Equatable {
  let plain: PlainRow
  var id: Int { plain.id }

  init(_ row: some ModelRow) { plain = .simplified(row.plain) }
}
