extension Rows {
  /// Adds a row at the end.
  ///
  /// - Returns: False if there is a row with its id, which stays as it is.
  @inlinable
  @discardableResult
  public mutating func append(_ row: Row) -> Bool { insert(row, at: rows.count) }

  /// Adds a row in front of the one at a position.
  ///
  /// - Returns: False if there is a row with its id, which stays as it is.
  @inlinable
  @discardableResult
  public mutating func insert(_ row: Row, at position: Int) -> Bool {
    if positions[row.id] != nil { return false }
    rows.insert(row, at: position)
    countAgain(from: position)
    noteStructure(row.id)
    return true
  }

  /// Removes the row with the id.
  ///
  /// - Returns: The row; `nil` if there was none.
  @inlinable
  @discardableResult
  public mutating func remove(id: Row.ID) -> Row? {
    guard let position = positions.removeValue(forKey: id) else { return nil }
    let row = rows.remove(at: position)
    countAgain(from: position)
    noteStructure(id)
    return row
  }

  /// Removes the rows that a closure picks.
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

  /// Moves the row with the id, so that it stands at a position afterwards; what is not there stays away.
  @inlinable
  public mutating func move(id: Row.ID, to position: Int) {
    guard let old = positions[id], old != position else { return }
    rows.insert(rows.remove(at: old), at: position)
    countAgain(from: Swift.min(old, position), to: Swift.max(old, position) + 1)
    noteStructure(id)
  }
}
