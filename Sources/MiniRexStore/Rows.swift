import MiniRex

/// An ordered collection of rows with unique IDs, which tracks its own changes.
///
/// ```swift
/// var todos: Rows = [Todo(id: 1, text: "Wash"), Todo(id: 2, text: "Cook")]
/// todos[id: 2]?.isDone = true
/// todos[id: 1] = nil
/// ```
///
/// IDs are unique: the first row with an ID wins. Finding or changing a row by its ID is O(1), as are
/// appending and removing at the end. Other insertions, removals, and moves shift the rows
/// behind in memory, as in an array, which is O(n). To change many rows, use ``removeAll(where:)``,
/// ``replaceSubrange(_:with:)``, or another method that is O(n) for all of them.
///
/// `Rows` is a value type with copy-on-write storage. Comparing two unchanged copies is O(1).
public struct Rows<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  @usableFromInline var rows: [Row] = []
  @usableFromInline var positions = RowPositions<Row.ID>()
  @usableFromInline var log: RowsLog<Row.ID>
  /// The stamp of the last insertion, removal, or move.
  @usableFromInline var structureStamp: RowsStamp

  /// Creates an empty collection.
  @inlinable
  public init() {
    log = RowsLog(.never)
    structureStamp = .never
  }

  /// Creates a collection from a sequence.
  ///
  /// The first row with an ID wins.
  @inlinable
  public init(_ rows: some Sequence<Row>) {
    self.init()
    self.rows.reserveCapacity(rows.underestimatedCount)
    positions.reserveCapacity(rows.underestimatedCount)
    for row in rows where positions[row.id] == nil {
      positions.append(row.id)
      self.rows.append(row)
    }
    if self.rows.isEmpty { return }
    log = RowsLog(.next())
    structureStamp = log.latest
  }

  /// The IDs in the order of their rows, as a new array in O(n).
  @inlinable
  public var ids: [Row.ID] { rows.map(\.id) }

  /// Returns the position of the row with the given ID, or `nil`.
  @inlinable
  public func index(id: Row.ID) -> Int? { positions[id] }

  /// Accesses the row with the given ID.
  ///
  /// Changes happen in place. Assigning a row with a new ID appends it, and assigning `nil` removes
  /// it. A row cannot change its ID: `rows[id: 1] = Todo(id: 2)` traps.
  @inlinable
  public subscript(id id: Row.ID) -> Row? {
    get { positions[id].map { rows[$0] } }
    _modify {
      let position = positions[id]
      var row: Row?
      if let position { row = takeOut(at: position) }
      defer { putBack(row, id, at: position) }
      yield &row
    }
  }

  /// Swaps the row with the last row, so the row is uniquely referenced while it is changed.
  @inlinable
  mutating func takeOut(at position: Int) -> Row {
    rows.swapAt(position, rows.count - 1)
    return rows.removeLast()
  }

  @inlinable
  mutating func putBack(_ row: consuming Row?, _ id: Row.ID, at position: Int?) {
    guard let row else {
      if let position { forget(id, at: position) }
      return
    }
    if row.id != id { refuse(row.id, insteadOf: id) }
    rows.append(row)
    if let position {
      rows.swapAt(position, rows.count - 1)
      log.note(RowEdit(id), among: rows.count)
    } else {
      positions.append(id)
      noteStructure(RowEdit(id, to: rows.count - 1))
    }
  }

  /// Completes the removal of a row that `takeOut(at:)` returned.
  @inlinable
  mutating func forget(_ id: Row.ID, at position: Int) {
    if position < rows.count { rows.append(rows.remove(at: position)) }
    _ = positions.remove(id)
    noteStructure(RowEdit(id, from: position))
  }

  @inlinable
  mutating func noteStructure(_ edit: RowEdit<Row.ID>) {
    if positions.isWorn { positions.renew(among: rows) }
    log.note(edit, among: rows.count)
    structureStamp = log.latest
  }

  @usableFromInline
  func refuse(_ id: Row.ID, insteadOf old: Row.ID) -> Never {
    misuse(
      "A row of Rows cannot change its id from \(old) to \(id). Remove the row, and append or insert a "
        + "row with the new id.")
  }
}

// The interface for row scopes and live queries.
extension Rows {
  /// A stamp that differs after each change.
  @inlinable
  var stamp: RowsStamp { log.latest }

  /// The IDs of the rows that were changed, inserted, removed, or moved since the stamp, without
  /// duplicates.
  ///
  /// Returns `nil` if the changes are unknown: the stamp belongs to other rows or to an undone
  /// change, or more than max(64, n/8) changes followed. Rows that other rows displaced are not
  /// included.
  @inlinable
  func ids(changedSince stamp: RowsStamp) -> [Row.ID]? {
    log.ids(since: stamp, among: rows.count)
  }

  /// The changes since the stamp with their positions, from the oldest to the newest.
  ///
  /// Returns `nil` in the same cases.
  @inlinable
  func edits(since stamp: RowsStamp) -> [RowEdit<Row.ID>]? {
    log.edits(since: stamp, among: rows.count)
  }

  /// The only change since the stamp, if exactly one row was changed, and in its place.
  @inlinable
  func onlyEdit(since stamp: RowsStamp) -> RowEdit<Row.ID>? { log.onlyEdit(since: stamp) }
}
