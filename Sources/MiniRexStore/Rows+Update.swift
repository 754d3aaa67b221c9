extension Rows {
  /// Makes the rows match a new list, and keeps existing rows.
  ///
  /// ```swift
  /// state.items.update(to: ids, id: { $0 }) { _, id in Item(id: id) }
  /// ```
  ///
  /// Afterward, the rows of the section have the IDs and the order of `news`. Existing rows stay as
  /// they are, and `create` makes the missing rows. Rows outside the section keep their positions.
  /// A duplicate ID in `news`, or the ID of a row outside the section, is skipped. Additional rows
  /// follow the last row of the section. If the section was empty, they are appended.
  ///
  /// Complexity: O(n + m). If nothing differs, the rows count as unchanged.
  ///
  /// - Parameters:
  ///   - news: The new contents of the section.
  ///   - id: Returns the row's ID for an element of `news`.
  ///   - isInSection: Selects the rows that can be moved and removed. The default selects all rows.
  ///   - create: Creates a row from its position in the section and an element of `news`. Traps if
  ///     the row has another ID than the element.
  @inlinable
  public mutating func update<New>(
    to news: some Sequence<New>, id: (New) -> Row.ID,
    where isInSection: (Row) -> Bool = { _ in true },
    create: (_ index: Int, New) -> Row
  ) {
    let isMember = rows.map(isInSection)
    var section: [Row] = []
    var known: Set<Row.ID> = []
    for new in news {
      let newID = id(new)
      let position = positions[newID]
      if let position, !isMember[position] { continue }
      if !known.insert(newID).inserted { continue }
      if let position {
        section.append(rows[position])
      } else {
        let row = create(section.count, new)
        if row.id != newID { refuse(row.id, insteadOf: newID) }
        section.append(row)
      }
    }
    var next = section.makeIterator()
    var ordered: [Row] = []
    ordered.reserveCapacity(rows.count + section.count)
    let last = isMember.lastIndex(of: true)
    for (position, row) in rows.enumerated() {
      if let row = isMember[position] ? next.next() : row { ordered.append(row) }
      if position == last { while let row = next.next() { ordered.append(row) } }
    }
    while let row = next.next() { ordered.append(row) }
    become(ordered)
  }
}
