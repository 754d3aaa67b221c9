extension Rows {
  /// Sorts the rows by a predicate.
  ///
  /// Rows that the predicate does not order keep their order. If nothing moves, the rows count as
  /// unchanged. O(n log n).
  ///
  /// - Parameter areInIncreasingOrder: Returns `true` if its first argument belongs before its
  ///   second.
  @inlinable
  public mutating func sort(by areInIncreasingOrder: (Row, Row) throws -> Bool) rethrows {
    become(
      try rows.enumerated().sorted { one, other in
        if try areInIncreasingOrder(one.element, other.element) { return true }
        if try areInIncreasingOrder(other.element, one.element) { return false }
        return one.offset < other.offset
      }.map(\.element))
  }

  /// Moves the rows at some positions in front of the row at another position, in their order.
  ///
  /// For SwiftUI's `onMove`. All positions count before the move. Traps if a position does not
  /// exist. O(n).
  ///
  /// - Parameters:
  ///   - offsets: The positions of the rows, as an `IndexSet` or another sequence.
  ///   - destination: The position before which the rows are put, or the number of rows for the end.
  @inlinable
  public mutating func move(fromOffsets offsets: some Sequence<Int>, toOffset destination: Int) {
    let marks = marks(offsets, in: "move(fromOffsets:toOffset:)")
    if destination < 0 || destination > rows.count {
      refuse(destination, in: "move(fromOffsets:toOffset:)")
    }
    let moved = rows.indices.filter { marks[$0] }
    let kept = rows.indices.filter { !marks[$0] }
    let front = kept.filter { $0 < destination }
    become((front + moved + kept.dropFirst(front.count)).map { rows[$0] })
  }

  /// Removes the rows at some positions.
  ///
  /// For SwiftUI's `onDelete`. Traps if a position does not exist. O(n).
  ///
  /// - Parameter offsets: The positions of the rows, as an `IndexSet` or another sequence.
  @inlinable
  public mutating func remove(atOffsets offsets: some Sequence<Int>) {
    let marks = marks(offsets, in: "remove(atOffsets:)")
    become(rows.indices.filter { !marks[$0] }.map { rows[$0] })
  }

  /// Removes the row at a position.
  ///
  /// Traps if the position does not exist.
  ///
  /// - Returns: The removed row.
  @inlinable
  @discardableResult
  public mutating func remove(at position: Int) -> Row {
    if !rows.indices.contains(position) { refuse(position, in: "remove(at:)") }
    let row = rows[position]
    remove(id: row.id)
    return row
  }

  /// Replaces the rows in a range of positions.
  ///
  /// IDs stay unique. A new row with the ID of a row outside the range is skipped, as is a new row
  /// with the ID of an earlier new row. A new row with the ID of a replaced row changes that row.
  /// O(n + m).
  ///
  /// - Parameters:
  ///   - range: The positions to replace. Traps if they do not exist.
  ///   - news: The new rows.
  @inlinable
  public mutating func replaceSubrange(
    _ range: some RangeExpression<Int>, with news: some Sequence<Row>
  ) {
    let range = positions(in: range)
    var ordered = rows
    var known: Set<Row.ID> = []
    var replaced: [Row.ID] = []
    ordered.replaceSubrange(
      range,
      with: news.filter { row in
        let position = positions[row.id]
        if let position, !range.contains(position) { return false }
        if !known.insert(row.id).inserted { return false }
        if position != nil { replaced.append(row.id) }
        return true
      })
    become(ordered, replaced)
  }

  /// Appends rows.
  ///
  /// A row whose ID is already in use is skipped.
  @inlinable
  public mutating func append(contentsOf news: some Sequence<Row>) {
    for row in news { append(row) }
  }

  /// Returns the positions of a range, without the traps of the standard library.
  @inlinable
  func positions(in range: some RangeExpression<Int>) -> Range<Int> {
    let bounds = range.relative(to: Int.min..<Int.max)
    let start = bounds.lowerBound == .min ? 0 : bounds.lowerBound
    let end = bounds.upperBound == .max ? Swift.max(start, rows.count) : bounds.upperBound
    for bound in [start, end] where bound < 0 || bound > rows.count {
      refuse(bound, in: "replaceSubrange(_:with:)")
    }
    return start..<end
  }

  @inlinable
  func marks(_ offsets: some Sequence<Int>, in function: String) -> [Bool] {
    var marks = [Bool](repeating: false, count: rows.count)
    for offset in offsets {
      if !rows.indices.contains(offset) { refuse(offset, in: function) }
      marks[offset] = true
    }
    return marks
  }
}

extension Rows {
  /// Sorts the rows by a key.
  ///
  /// ```swift
  /// state.cards.sort(by: \.rank)
  /// ```
  ///
  /// Rows with equal keys keep their order.
  @inlinable
  public mutating func sort(by key: (Row) -> some Comparable) {
    sort { key($0) < key($1) }
  }
}
