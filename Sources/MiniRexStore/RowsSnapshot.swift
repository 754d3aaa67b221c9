import MiniRex

/// The rows of a live query at one time.
///
/// A snapshot is a value. It shares its structure with other snapshots of the query, so that keeping
/// it costs memory for the changed rows only. Access by position is O(log n), and iteration is O(n).
public struct RowsSnapshot<Row: Identifiable & Sendable>: RandomAccessCollection, Sendable
where Row.ID: Sendable {
  @usableFromInline var tree: RowTree<Row>
  @usableFromInline let query: QueryID

  @inlinable
  init(_ tree: RowTree<Row>, of query: QueryID) {
    self.tree = tree
    self.query = query
  }

  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }

  /// The number of rows.
  @inlinable
  public var endIndex: Int { tree.count }

  /// Accesses the row at a position, in O(log n).
  ///
  /// Traps if the position does not exist.
  @inlinable
  public subscript(position: Int) -> Row {
    if position < 0 || position >= tree.count { refuse(position) }
    return tree[position]
  }

  /// Accesses the rows at a range of positions.
  ///
  /// Traps if the positions do not exist.
  @inlinable
  public subscript(positions: Range<Int>) -> Slice<RowsSnapshot> {
    if positions.lowerBound < 0 { refuse(positions.lowerBound) }
    if positions.upperBound > tree.count { refuse(positions.upperBound) }
    return Slice(base: self, bounds: positions)
  }

  @usableFromInline
  func refuse(_ position: Int) -> Never {
    misuse(
      "A snapshot has the positions of its \(tree.count) rows, not \(position). Use positions of this "
        + "snapshot: a later one can have other rows.")
  }

  /// Returns an iterator over the rows, which takes O(n) for all rows.
  @inlinable
  public func makeIterator() -> some IteratorProtocol<Row> { tree.makeIterator() }

  /// Returns the changes that turn an older or newer snapshot into this one.
  ///
  /// Returns `nil` if `old` belongs to another query. The order and the positions of the changes are
  /// those of ``RowsUpdate``. O(1) if both are the same, and otherwise O(n). A row that is not
  /// `Equatable` counts as changed if it is stored beside a changed row.
  public func changes(since old: RowsSnapshot) -> [RowsChange<Row>]? {
    if old.query !== query { return nil }
    let change = difference(from: old)
    return list(change, after: old.removals(in: change))
  }
}

extension RowsSnapshot: CustomStringConvertible {
  /// The rows in the format of an array.
  public var description: String { "\(Array(self))" }
}

extension RowsSnapshot {
  @usableFromInline
  func difference(from old: RowsSnapshot) -> LiveChange {
    if tree.root === old.tree.root { return LiveChange() }
    let (oldRows, rows) = (Array(old), Array(self))
    var change = LiveChange(from: oldRows.map(\.id), to: rows.map(\.id))
    let changeTest = ChangeTest<Row>()
    let (oldLeaves, leaves) = (old.leaves, self.leaves)
    change.addUpdates(among: rows.count) { before, after in
      oldLeaves[before] != leaves[after] && changeTest(oldRows[before], rows[after])
    }
    return change
  }

  /// The identity of the storage of each row.
  private var leaves: [ObjectIdentifier] {
    var leaves: [ObjectIdentifier] = []
    leaves.reserveCapacity(count)
    while leaves.count < count {
      let leaf = tree.leaf(at: leaves.count).0
      for _ in leaf.elements { leaves.append(ObjectIdentifier(leaf)) }
    }
    return leaves
  }

  /// Returns the removals of a change, for the rows before it.
  @inlinable
  func removals(in change: LiveChange) -> [RowsChange<Row>] {
    if change.removals.count == 1, change.insertions.first?.from == change.removals[0] { return [] }
    let moved = change.insertions.isEmpty ? [] : Set(change.insertions.compactMap(\.from))
    return change.removals.compactMap { position in
      moved.contains(position) ? nil : .removed(tree[position].id, at: position)
    }
  }

  /// Returns the changes with their rows, for the rows after a change.
  @inlinable
  func list(_ change: LiveChange, after removals: [RowsChange<Row>]) -> [RowsChange<Row>] {
    var changes = removals
    changes.reserveCapacity(change.count)
    for insertion in change.insertions {
      let row = tree[insertion.at]
      if let from = insertion.from {
        changes.append(.moved(row, from: from, to: insertion.at))
      } else {
        changes.append(.inserted(row, at: insertion.at))
      }
    }
    for position in change.updates { changes.append(.updated(tree[position], at: position)) }
    return changes
  }
}
