extension Rows {
  /// Makes the rows what a server says they are, and keeps those that are there already.
  ///
  /// ```swift
  /// state.items.update(to: ids, id: { $0 }) { _, id in Item(id: id) }
  /// ```
  ///
  /// Afterwards the rows that `isInSection` picks are those of `news`, in that order. Old rows are kept as
  /// they are, others are created. Rows outside the section stay where they are; news with the id of one
  /// are left out, as are those with an id that was there before. New rows more than the section had
  /// follow its last one; if it had none, they are appended. It costs O(n + m), and does nothing if all
  /// is as it should be.
  ///
  /// - Parameters:
  ///   - news: What the rows are to be.
  ///   - id: The id of the row for one of `news`.
  ///   - isInSection: Picks the rows that may be moved and removed; all, if it is left out.
  ///   - create: Makes a row, of its place in the section and one of `news`. It has to have its id.
  @inlinable
  public mutating func update<New>(
    to news: some Sequence<New>, id: (New) -> Row.ID,
    where isInSection: (Row) -> Bool = { _ in true },
    create: (_ index: Int, New) -> Row
  ) {
    let isMember = rows.map(isInSection)
    var section: [Row] = []
    var known: Set<Row.ID> = []
    var changed: [Row.ID] = []
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
        changed.append(newID)
      }
    }
    for (row, isMember) in zip(rows, isMember) where isMember && !known.contains(row.id) {
      changed.append(row.id)
    }
    replace(isMember, by: section, changed)
  }

  @inlinable
  mutating func replace(_ isMember: [Bool], by section: [Row], _ changed: [Row.ID]) {
    var next = section.makeIterator()
    var ordered: [Row] = []
    ordered.reserveCapacity(rows.count + section.count)
    let last = isMember.lastIndex(of: true)
    for (position, row) in rows.enumerated() {
      if let row = isMember[position] ? next.next() : row { ordered.append(row) }
      if position == last { while let row = next.next() { ordered.append(row) } }
    }
    while let row = next.next() { ordered.append(row) }
    let moved = zip(rows, ordered).first { $0.id != $1.id }.map { [$1.id] } ?? []
    if changed.isEmpty && moved.isEmpty { return }
    let removed = changed.filter { positions[$0] != nil }
    rows = ordered
    for id in removed { positions[id] = nil }
    countAgain(from: 0)
    log.note(changed.isEmpty ? moved : changed, among: rows.count)
    structureStamp = log.latest
  }
}
