/// One run of a query: its stages, and the rows that it has emitted last.
///
/// Serial: a run belongs to one subscription to the inputs.
struct LiveRun<Row: Identifiable & Sendable> where Row.ID: Sendable {
  private let stage: LiveStage<Row>
  private let query: QueryID
  private(set) var last: RowsSnapshot<Row>?

  init(_ stage: LiveStage<Row>, of query: QueryID) {
    self.stage = stage
    self.query = query
  }

  /// Returns the next update, or `nil` if nothing has changed.
  mutating func apply(_ input: LiveInput) -> LiveStep<Row>? {
    let change = stage.apply(input)
    guard let last else { return reset(to: snapshot()) }
    if change.isEmpty { return nil }
    if change.isReset { return replace(last, by: snapshot()) }
    var tree = last.tree
    if let whole = stage.tree { tree = whole() } else { tree.apply(change, stage.row) }
    return step(change, from: last, to: RowsSnapshot(tree, of: query))
  }

  private func snapshot() -> RowsSnapshot<Row> {
    RowsSnapshot(stage.tree?() ?? RowTree(stage.rows), of: query)
  }

  private mutating func reset(to next: RowsSnapshot<Row>) -> LiveStep<Row> {
    last = next
    return LiveStep(snapshot: next, update: .all(next))
  }

  /// Compares all rows after a change of unknown extent.
  private mutating func replace(
    _ last: RowsSnapshot<Row>, by next: RowsSnapshot<Row>
  ) -> LiveStep<Row>? {
    let change = next.difference(from: last)
    return change.isEmpty ? nil : step(change, from: last, to: next)
  }

  private mutating func step(
    _ change: LiveChange, from last: RowsSnapshot<Row>, to next: RowsSnapshot<Row>
  ) -> LiveStep<Row> {
    if change.count > LiveChange.limit(next.count) { return reset(to: next) }
    self.last = next
    return LiveStep(snapshot: next, update: .changes(next.list(change, since: last)))
  }
}

/// The rows of a query after an update, and the update.
struct LiveStep<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  let snapshot: RowsSnapshot<Row>
  let update: RowsUpdate<Row>
}

/// The identity of a query, compared by reference.
@usableFromInline
final class QueryID: Sendable {
  @usableFromInline
  init() {}
}
