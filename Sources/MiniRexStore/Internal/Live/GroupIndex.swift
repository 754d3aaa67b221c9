/// The index of a grouped query: for each key, the handles and the rows of its group, and the groups
/// in the order of their first rows.
final class GroupIndex<Key: Hashable & Sendable, Row: Identifiable & Sendable>
where Row.ID: Sendable {
  private struct Group {
    let key: Key
    /// The handles of the rows, in the order of the source, parallel to `rows`.
    var handles: HandleTree
    var rows: RowTree<Row>
    let query = QueryID()
  }

  private var order = SourceOrder()
  /// The slots of the groups, by handle.
  private var slotOfRow: [UInt32] = []
  private var groups: [Group?] = []
  private var slots: [Key: UInt32] = [:]
  private var free: [UInt32] = []
  /// The slots in the order of their groups.
  private var sorted = HandleTree()

  var count: Int { sorted.count }

  func group(at position: Int) -> RowsGroup<Key, Row> {
    guard let group = groups[Int(sorted[position])] else {
      fatalError("A listed group is missing.")
    }
    return RowsGroup(id: group.key, rows: RowsSnapshot(group.rows, of: group.query))
  }

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameter key: The key of a row. Called once for each changed row.
  func apply(_ change: LiveChange, _ source: LiveStage<Row>, _ key: (Row) -> Key) -> LiveChange {
    if change.isReset { return rebuild(source, key) }
    if change.isEmpty { return change }
    let removed = change.removals.map { order.handle(at: $0) }
    let updated = change.updates.map { order.handle(at: change.oldPosition($0)) }
    let insertions = change.insertions.map { keyed(source.row($0.at), key) }
    let updates = change.updates.map { keyed(source.row($0), key) }
    // Places are searched before a group changes its first row.
    var places: [UInt32: Int?] = [:]
    for slot in (removed + updated).map({ slotOfRow[Int($0)] }) { places[slot] = find(slot) }
    for slot in (insertions + updates).map(\.slot) where places[slot] == nil {
      places[slot] = .some(groups[Int(slot)]?.rows.count == 0 ? nil : find(slot))
    }
    let kept = keptOffsets(change, insertions.map(\.slot))
    let origins = Set(zip(change.insertions, kept).compactMap { $1 == nil ? nil : $0.from })
    var changed = Set(updated.map { slotOfRow[Int($0)] } + updates.map(\.slot))
    for (position, handle) in zip(change.removals, removed) where !origins.contains(position) {
      changed.insert(slotOfRow[Int(handle)])
    }
    for handle in removed { take(handle) }
    for position in change.removals.reversed() { _ = order.remove(at: position) }
    for (insertion, new) in zip(change.insertions, insertions) {
      let handle = order.insert(at: insertion.at)
      if handle == slotOfRow.count { slotOfRow.append(0) }
      put(new.row, handle, into: new.slot)
    }
    for (index, new) in insertions.enumerated() {
      let handle = order.handle(at: change.insertions[index].at)
      if kept[index] != offset(of: handle, in: new.slot) { changed.insert(new.slot) }
    }
    for (handle, new) in zip(updated, updates) {
      if slotOfRow[Int(handle)] == new.slot {
        let offset = offset(of: handle, in: new.slot)
        groups[Int(new.slot)]?.rows[offset] = new.row
      } else {
        take(handle)
        put(new.row, handle, into: new.slot)
      }
    }
    return arrange(places, changed)
  }

  /// The old offsets of moved rows that have not changed, in the groups in which they stay.
  ///
  /// If they also have these offsets after the change, their groups are the same.
  private func keptOffsets(_ change: LiveChange, _ slots: [UInt32]) -> [Int?] {
    zip(change.insertions, slots).map { insertion, slot in
      guard insertion.isSame, let from = insertion.from else { return nil }
      let handle = order.handle(at: from)
      return slotOfRow[Int(handle)] == slot ? offset(of: handle, in: slot) : nil
    }
  }

  /// Finds or creates the group of a row.
  private func keyed(_ row: Row, _ key: (Row) -> Key) -> (row: Row, slot: UInt32) {
    let key = key(row)
    if let slot = slots[key] { return (row, slot) }
    let slot = free.popLast() ?? UInt32(groups.count)
    let group = Group(key: key, handles: HandleTree(), rows: RowTree())
    if slot == groups.count { groups.append(group) } else { groups[Int(slot)] = group }
    slots[key] = slot
    return (row, slot)
  }

  private func take(_ handle: UInt32) {
    let slot = slotOfRow[Int(handle)]
    let offset = offset(of: handle, in: slot)
    groups[Int(slot)]?.handles.remove(at: offset)
    groups[Int(slot)]?.rows.remove(at: offset)
  }

  private func put(_ row: Row, _ handle: UInt32, into slot: UInt32) {
    slotOfRow[Int(handle)] = slot
    let offset = offset(of: handle, in: slot)
    groups[Int(slot)]?.handles.insert(handle, at: offset)
    groups[Int(slot)]?.rows.insert(row, at: offset)
  }

  private func offset(of handle: UInt32, in slot: UInt32) -> Int {
    groups[Int(slot)]?.handles.partition { !order.isBefore($0, handle) } ?? 0
  }

  private func first(_ slot: UInt32) -> UInt32 { groups[Int(slot)]?.handles[0] ?? 0 }

  private func find(_ slot: UInt32) -> Int {
    let handle = first(slot)
    return sorted.partition { !order.isBefore(first($0), handle) }
  }

  /// Puts the touched groups into their places, and releases empty groups.
  ///
  /// - Parameters:
  ///   - places: The old places of the touched groups, `nil` for new groups.
  ///   - changed: The groups whose rows have changed. Other groups may have another place.
  private func arrange(_ places: [UInt32: Int?], _ changed: Set<UInt32>) -> LiveChange {
    let old = places.values.compactMap(\.self).sorted()
    for place in old.reversed() { sorted.remove(at: place) }
    var touched: [(place: Int?, slot: UInt32)] = []
    for (slot, place) in places {
      if groups[Int(slot)]?.rows.count == 0 { release(slot) } else { touched.append((place, slot)) }
    }
    touched.sort { order.isBefore(first($0.slot), first($1.slot)) }
    var result = LiveChange()
    result.removals = old
    for (from, slot) in touched {
      let handle = first(slot)
      let place = sorted.partition { !order.isBefore(first($0), handle) }
      sorted.insert(slot, at: place)
      result.insertions.append(
        LiveChange.Insertion(
          at: place, from: from, isSame: from != nil && !changed.contains(slot)))
    }
    result.simplify()
    return result
  }

  private func release(_ slot: UInt32) {
    if let key = groups[Int(slot)]?.key { slots[key] = nil }
    groups[Int(slot)] = nil
    free.append(slot)
  }

  private func rebuild(_ source: LiveStage<Row>, _ key: (Row) -> Key) -> LiveChange {
    order.rebuild(source.count())
    (groups, slots, free) = ([], [:], [])
    slotOfRow = []
    var members: [[UInt32]] = []
    for (handle, row) in source.rows.enumerated() {
      let slot = keyed(row, key).slot
      if slot == members.count { members.append([]) }
      members[Int(slot)].append(UInt32(handle))
      slotOfRow.append(slot)
    }
    for (slot, handles) in members.enumerated() {
      groups[slot]?.handles = HandleTree(handles)
      groups[slot]?.rows = RowTree(handles.lazy.map { source.row(Int($0)) })
    }
    sorted = HandleTree(groups.indices.lazy.map { UInt32($0) })
    return .reset
  }
}
