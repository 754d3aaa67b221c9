/// One update of a live query.
///
/// Removals come first, then insertions and moves in ascending order, then updates. A list follows
/// the query if it takes out the removed and the moved rows, inserts the others from the front to
/// the back, and replaces the updated rows. ``apply(to:)`` is this procedure for an array.
public enum RowsUpdate<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  /// The rows at the beginning, or after more than `max(64, count / 8)` changes.
  case all(RowsSnapshot<Row>)
  /// The changes since the previous update, at least one.
  case changes([RowsChange<Row>])

  /// Makes an array that equals the rows before the update equal the rows after it.
  ///
  /// O(n + k log k) for k changes.
  public func apply(to rows: inout [Row]) {
    switch self {
    case .all(let snapshot): rows = Array(snapshot)
    case .changes(let changes):
      let removals = changes.compactMap(\.oldPosition).sorted(by: >)
      for position in removals { rows.remove(at: position) }
      for change in changes {
        switch change {
        case .removed: break
        case .inserted(let row, let position), .moved(let row, _, let position):
          rows.insert(row, at: position)
        case .updated(let row, let position): rows[position] = row
        }
      }
    }
  }
}

/// The change of one row in an update of a live query.
public enum RowsChange<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  /// A row was removed from a position before the update.
  case removed(Row.ID, at: Int)
  /// A row was inserted, and has a position after the update.
  case inserted(Row, at: Int)
  /// A row was moved from a position before the update to a position after it, and may have changed.
  case moved(Row, from: Int, to: Int)
  /// A row has changed, and has a position after the update.
  case updated(Row, at: Int)

  /// The position that a removed or moved row had before the update.
  var oldPosition: Int? {
    switch self {
    case .removed(_, let position), .moved(_, let position, _): position
    case .inserted, .updated: nil
    }
  }
}

extension RowsChange: Equatable where Row: Equatable {}

extension RowsChange: CustomStringConvertible {
  /// The change and its positions, as in `moved 7 from 3 to 0`.
  public var description: String {
    switch self {
    case .removed(let id, let position): "removed \(id) at \(position)"
    case .inserted(let row, let position): "inserted \(row.id) at \(position)"
    case .moved(let row, let from, let to): "moved \(row.id) from \(from) to \(to)"
    case .updated(let row, let position): "updated \(row.id) at \(position)"
    }
  }
}
