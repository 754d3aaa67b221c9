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
    noteStructure(row.id)
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
    noteStructure(id)
    return row
  }

  /// Removes the rows that satisfy a predicate.
  @inlinable
  public mutating func removeAll(where isRemoved: (Row) -> Bool) {
    var removed: [Row.ID] = []
    rows.removeAll { row in
      if !isRemoved(row) { return false }
      removed.append(row.id)
      return true
    }
    if removed.isEmpty { return }
    for id in removed { positions[id] = nil }
    countAgain(from: 0)
    log.note(removed, among: rows.count)
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
    noteStructure(id)
  }
}
