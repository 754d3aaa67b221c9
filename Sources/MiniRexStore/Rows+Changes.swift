extension Rows {
  /// Appends a row.
  ///
  /// - Returns: `false` if a row already has the ID. That row does not change.
  @inlinable
  @discardableResult
  public mutating func append(_ row: Row) -> Bool { insert(row, at: rows.count) }

  /// Inserts a row before the row at a position.
  ///
  /// Traps if the position is negative or greater than the number of rows. The rows behind shift in
  /// memory, which is O(n).
  ///
  /// - Returns: `false` if a row already has the ID. That row does not change.
  @inlinable
  @discardableResult
  public mutating func insert(_ row: Row, at position: Int) -> Bool {
    if position < 0 || position > rows.count { refuse(position, in: "insert(_:at:)") }
    if positions[row.id] != nil { return false }
    positions.insert(row.id, at: position, among: rows)
    rows.insert(row, at: position)
    noteStructure(RowEdit(row.id, to: position))
    return true
  }

  /// Removes the row with the given ID.
  ///
  /// The rows behind shift in memory, which is O(n). ``removeAll(where:)`` removes any number of rows
  /// in O(n).
  ///
  /// - Returns: The removed row, or `nil` if no row has the ID.
  @inlinable
  @discardableResult
  public mutating func remove(id: Row.ID) -> Row? {
    guard let position = positions.remove(id) else { return nil }
    let row = rows.remove(at: position)
    noteStructure(RowEdit(id, from: position))
    return row
  }

  /// Removes the rows that satisfy a predicate, in O(n).
  @inlinable
  public mutating func removeAll(where isRemoved: (Row) -> Bool) {
    var edits: [RowEdit<Row.ID>] = []
    var position = 0
    rows.removeAll { row in
      defer { position += 1 }
      if !isRemoved(row) { return false }
      edits.append(RowEdit(row.id, from: position - edits.count))
      return true
    }
    if edits.isEmpty { return }
    for edit in edits { positions.forget(edit.id) }
    positions.renew(from: edits[0].taken, among: rows)
    log.note(edits, among: rows.count)
    structureStamp = log.latest
  }

  /// Moves the row with the given ID to a position.
  ///
  /// Does nothing if no row has the ID. Otherwise, traps if the position does not exist. The rows
  /// between both positions shift in memory, which is O(n).
  @inlinable
  public mutating func move(id: Row.ID, to position: Int) {
    guard let old = positions[id], old != position else { return }
    if !rows.indices.contains(position) { refuse(position, in: "move(id:to:)") }
    let row = rows.remove(at: old)
    positions.move(id, from: old, to: position, among: rows)
    rows.insert(row, at: position)
    noteStructure(RowEdit(id, from: old, to: position))
  }
}
