public import MiniRex

/// The first stage of a query: follows `Rows` by their record of changes.
///
/// Without checks of exclusivity, like `FilterIndex`.
@usableFromInline
final class RowsIndex<Row: Identifiable & Sendable> where Row.ID: Sendable {
  @usableFromInline @safe @exclusivity(unchecked) var tree = RowTree<Row>()
  @usableFromInline @safe @exclusivity(unchecked) var stamp: RowsStamp?
  @usableFromInline let changeTest = ChangeTest<Row>()
  @usableFromInline let changed = ChangedRow<Row>()

  @inlinable
  init() {}

  @inlinable
  func apply(_ rows: Rows<Row>) -> LiveChange {
    defer { stamp = rows.stamp }
    changed.row = nil
    guard let stamp = stamp else {
      tree = RowTree(rows.rows)
      return .reset
    }
    if stamp == rows.stamp { return LiveChange() }
    if let edit = rows.onlyEdit(since: stamp), let position = rows.index(id: edit.id) {
      return update(position, rows.rows[position])
    }
    if let edits = rows.edits(since: stamp),
      var change = LiveChange(edits, among: tree.count, { rows.index(id: $0) })
    {
      if !change.updates.isEmpty {
        change.updates = change.updates.filter {
          changeTest(tree[change.oldPosition($0)], rows.rows[$0])
        }
      }
      mark(&change, rows)
      tree.apply(change) { rows.rows[$0] }
      return change
    }
    return replace(by: rows)
  }

  @inlinable
  func update(_ position: Int, _ row: Row) -> LiveChange {
    if !changeTest(tree[position], row) { return LiveChange() }
    tree[position] = row
    changed.set(row, at: position)
    return LiveChange(update: position)
  }

  /// Compares all rows, because the record of changes begins after the rows of the index.
  @inlinable
  func replace(by rows: Rows<Row>) -> LiveChange {
    let old = Array(tree)
    var change = LiveChange(from: old.map(\.id), to: rows.ids)
    change.addUpdates(among: rows.count) { changeTest(old[$0], rows.rows[$1]) }
    if change.count > LiveChange.limit(rows.count) {
      tree = RowTree(rows.rows)
      return .reset
    }
    mark(&change, rows)
    tree.apply(change) { rows.rows[$0] }
    return change
  }

  /// Marks the moved rows that have not changed.
  @inlinable
  func mark(_ change: inout LiveChange, _ rows: Rows<Row>) {
    for (offset, insertion) in change.insertions.enumerated() {
      guard let from = insertion.from,
        !changeTest(tree[from], rows.rows[insertion.at])
      else {
        continue
      }
      change.insertions[offset] = LiveChange.Insertion(at: insertion.at, from: from, isSame: true)
    }
  }
}
