/// A row of a query, and the row of another query to which it refers.
public struct JoinedRow<Row: Identifiable & Sendable, Other: Identifiable & Sendable>: Identifiable,
  Sendable
where Row.ID: Sendable, Other.ID: Sendable {
  /// The row.
  public let row: Row
  /// The row to which it refers, or `nil` if the other query does not contain it.
  public let other: Other?

  /// The ID of the row.
  public var id: Row.ID { row.id }

  @usableFromInline
  init(_ row: Row, _ other: Other?) {
    self.row = row
    self.other = other
  }
}

extension JoinedRow: Equatable where Row: Equatable, Other: Equatable {}
