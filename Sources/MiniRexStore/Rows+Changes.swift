extension Rows {
  /// Appends a row.
  ///
  /// - Returns: `false` if a row already has the ID. That row does not change.
  @inlinable
  @discardableResult
  public mutating func append(_ row: Row) -> Bool { insert(row, at: rows.count) }

  /// Inserts a row before the row at a position.
  ///
  /// - Returns: `false` if a row already has the ID. That row does not change.
  @inlinable
  @discardableResult
  public mutating func insert(_ row: Row, at position: Int) -> Bool {
    if positions[row.id] != nil { return false }
    rows.insert(row, at: position)
    countAgain(from: position)
    noteStructure(RowEdit(row.id, to: position))
    return true
  }

  /// Removes the row with the given ID.
  ///
  /// - Returns: The removed row, or `nil` if no row has the ID.
  @inlinable
  @discardableResult
  public mutating func remove(id: Row.ID) -> Row? {
    guard let position = positions.removeValue(forKey: id) else { return nil }
    let row = rows.remove(at: position)
    countAgain(from: position)
    noteStructure(RowEdit(id, from: position))
    return row
  }

  /// Removes the rows that satisfy a predicate.
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
    for edit in edits { positions[edit.id] = nil }
    countAgain(from: edits[0].taken)
    log.note(edits, among: rows.count)
    structureStamp = log.latest
  }

  /// Moves the row with the given ID to a position.
  ///
  /// Does nothing if no row has the ID.
  @inlinable
  public mutating func move(id: Row.ID, to position: Int) {
    guard let old = positions[id], old != position else { return }
    rows.insert(rows.remove(at: old), at: position)
    countAgain(from: Swift.min(old, position), to: Swift.max(old, position) + 1)
    noteStructure(RowEdit(id, from: old, to: position))
  }
}
