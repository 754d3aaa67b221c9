/// One run of a query: its stages, and the rows that it has emitted last.
///
/// Serial: a run belongs to one subscription to the inputs.
@usableFromInline
struct LiveRun<Row: Identifiable & Sendable> where Row.ID: Sendable {
  @usableFromInline let stage: LiveStage<Row>
  @usableFromInline let query: QueryID
  @usableFromInline var last: RowsSnapshot<Row>?

  @inlinable
  init(_ stage: LiveStage<Row>, of query: QueryID) {
    self.stage = stage
    self.query = query
  }

  /// Returns the next update, or `nil` if nothing has changed.
  ///
  /// The last rows are taken out, so that they are changed in place unless a subscriber has a copy.
  @inlinable
  mutating func apply(_ input: any LiveInput) -> LiveStep<Row>? {
    let change = stage.apply(input)
    guard var rows = last.take() else { return reset(to: snapshot()) }
    if change.isEmpty {
      last = rows
      return nil
    }
    if change.isReset { return replace(rows, by: snapshot()) }
    let removals = change.removals.isEmpty ? [] : rows.removals(in: change)
    if let whole = stage.tree {
      rows.tree = whole()
    } else if let position = change.onlyUpdate {
      let row = stage.row(position)
      rows.tree[position] = row
      last = rows
      return LiveStep(snapshot: rows, update: .changes([.updated(row, at: position)]))
    } else {
      rows.tree.apply(change, stage.row)
    }
    return step(change, removals, to: rows)
  }

  @inlinable
  func snapshot() -> RowsSnapshot<Row> {
    RowsSnapshot(stage.tree?() ?? RowTree(stage.rows), of: query)
  }

  @inlinable
  mutating func reset(to next: RowsSnapshot<Row>) -> LiveStep<Row> {
    last = next
    return LiveStep(next)
  }

  /// Compares all rows after a change of unknown extent.
  @inlinable
  mutating func replace(
    _ last: RowsSnapshot<Row>, by next: RowsSnapshot<Row>
  ) -> LiveStep<Row>? {
    let change = next.difference(from: last)
    if change.isEmpty {
      self.last = last
      return nil
    }
    return step(change, last.removals(in: change), to: next)
  }

  @inlinable
  mutating func step(
    _ change: LiveChange, _ removals: [RowsChange<Row>], to next: RowsSnapshot<Row>
  ) -> LiveStep<Row> {
    if change.count > LiveChange.limit(next.count) { return reset(to: next) }
    last = next
    return LiveStep(snapshot: next, update: .changes(next.list(change, after: removals)))
  }
}

/// The rows of a query after an update, and the update.
@usableFromInline
struct LiveStep<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  @usableFromInline let snapshot: RowsSnapshot<Row>
  @usableFromInline let update: RowsUpdate<Row>

  @inlinable
  init(snapshot: RowsSnapshot<Row>, update: RowsUpdate<Row>) {
    self.snapshot = snapshot
    self.update = update
  }

  /// The first value of a subscriber.
  @inlinable
  init(_ snapshot: RowsSnapshot<Row>) { self.init(snapshot: snapshot, update: .all(snapshot)) }
}

/// The identity of a query, compared by reference.
@usableFromInline
final class QueryID: Sendable {
  @usableFromInline
  init() {}
}
