import MiniRex

extension Rows {
  /// Replaces all rows, and records the smallest number of rows that were put in, taken out, or
  /// moved.
  ///
  /// - Parameter replaced: The IDs of kept rows that have changed.
  @inlinable
  mutating func become(_ ordered: [Row], _ replaced: [Row.ID] = []) {
    let change = LiveChange(from: rows.map(\.id), to: ordered.map(\.id))
    if change.isEmpty, replaced.isEmpty { return }
    var edits = change.removals.reversed().map { RowEdit(rows[$0].id, from: $0) }
    for edit in edits { positions.forget(edit.id) }
    edits += change.insertions.map { RowEdit(ordered[$0.at].id, to: $0.at) }
    edits += replaced.map { RowEdit($0) }
    rows = ordered
    log.note(edits, among: rows.count)
    if change.isEmpty { return }
    structureStamp = log.latest
    positions.renew(
      from: Swift.min(change.removals.first ?? .max, change.insertions.first?.at ?? .max),
      among: rows)
  }

  @usableFromInline
  func refuse(_ position: Int, in function: String) -> Never {
    misuse(
      "'\(function)' requires positions of the \(rows.count) rows, not \(position). Use positions of "
        + "the current rows.")
  }
}
