import MiniRex

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
  /// O(n + k log k) for k changes, and O(k) if all of them are updates in place. Traps if a position
  /// does not exist in the array.
  public func apply(to rows: inout [Row]) {
    switch self {
    case .all(let snapshot): rows = Array(snapshot)
    case .changes(let changes):
      let removals = changes.compactMap(\.oldPosition).sorted()
      let insertions = changes.compactMap(\.insertion).sorted { $0.position < $1.position }
      rows.remove(at: removals)
      rows.insert(insertions)
      for case .updated(let row, let position) in changes {
        rows.check(position, rows.count)
        rows[position] = row
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
  ///
  /// Any attribute may have changed, even a sort key, if the row keeps its place.
  case updated(Row, at: Int)

  /// The position that a removed or moved row had before the update.
  var oldPosition: Int? {
    switch self {
    case .removed(_, let position), .moved(_, let position, _): position
    case .inserted, .updated: nil
    }
  }

  /// The row of an insertion or of a move, with its position after the update.
  fileprivate var insertion: (element: Row, position: Int)? {
    switch self {
    case .inserted(let row, let position), .moved(let row, _, let position): (row, position)
    case .removed, .updated: nil
    }
  }
}

extension Array {
  /// Removes elements at ascending positions, and moves each other element at most once.
  fileprivate mutating func remove(at positions: [Int]) {
    guard let first = positions.first, let last = positions.last else { return }
    check(first, count)
    check(last, count)
    if positions.count == 1 {
      remove(at: first)
      return
    }
    var (place, next) = (first, 0)
    for position in first..<count {
      if next < positions.count, positions[next] == position {
        next += 1
      } else {
        swapAt(place, position)
        place += 1
      }
    }
    removeLast(count - place)
  }

  /// Inserts elements at ascending positions after the insertion, and moves each other element at
  /// most once.
  fileprivate mutating func insert(_ insertions: [(element: Element, position: Int)]) {
    guard let first = insertions.first, let last = insertions.last else { return }
    let end = count + insertions.count
    check(first.position, end)
    check(last.position, end)
    if insertions.count == 1 { return insert(first.element, at: first.position) }
    var next = insertions.count - 1
    var source = count - 1
    append(contentsOf: insertions.lazy.map(\.element))
    for position in (first.position..<end).reversed() {
      if next >= 0, insertions[next].position == position {
        self[position] = insertions[next].element
        next -= 1
      } else {
        // Two insertions have one position.
        if source < 0 { check(source, end) }
        swapAt(position, source)
        source -= 1
      }
    }
  }

  fileprivate func check(_ position: Int, _ count: Int) {
    if position >= 0, position < count { return }
    misuse(
      "'apply(to:)' requires an array with the rows before the update. Position \(position) does not "
        + "exist in \(self.count) rows. Apply every update, beginning with the first.")
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
