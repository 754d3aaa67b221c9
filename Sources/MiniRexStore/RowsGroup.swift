/// The rows of a query that have the same key.
public struct RowsGroup<Key: Hashable & Sendable, Row: Identifiable & Sendable>: Identifiable,
  Sendable
where Row.ID: Sendable {
  /// The key.
  public let id: Key
  /// The rows with the key, at least one, in the order of the query.
  public let rows: RowsSnapshot<Row>
}
