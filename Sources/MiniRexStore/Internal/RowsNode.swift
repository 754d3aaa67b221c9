/// The rows of a list that somebody uses, and those of them that somebody listens to.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
final class RowsNode<Root: Sendable, Row: Identifiable & Sendable>: PartNode<Root>,
  @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline let list: PartPlace<Root, Rows<Row>>
  @usableFromInline var rows: [Row.ID: PartPlace<Root, Row>] = [:]
  /// When the rows had been changed last, when they were looked at last; `nil` before.
  @usableFromInline var stamp: RowsStamp?
  /// A `RowsFeed`, while somebody listens to a row.
  @usableFromInline var feed: (any RowsFeeding)?
  /// Makes one for a storage and this node, where their types are known; `nil` until they were.
  @usableFromInline var makeFeed: ((AnyObject, AnyObject) -> (any RowsFeeding)?)?

  @inlinable
  init(_ list: PartPlace<Root, Rows<Row>>, _ key: AnyKeyPath) {
    self.list = list
    super.init(key) { node, root, number, orphans in
      unsafe unsafeDowncast(node, to: RowsNode.self).check(root, number, &orphans)
    }
  }

  @inlinable
  func place(_ id: Row.ID) -> PartPlace<Root, Row> {
    if let place = rows[id] { return place }
    let part = RowPart<Root, Row>(id, in: list.part)
    part.node = self
    let list = list
    let place = PartPlace(
      list.path.appending(path: \Rows<Row>.[id: id]).appending(path: \.!), in: part, nil
    ) { list.look(at: $0) { $0[id: id] } ?? nil }
    rows[id] = place
    return place
  }

  /// Looks at the rows that were changed since the last time, and at no other.
  @inlinable
  func check(_ root: Root, _ number: Int, _ orphans: inout [RunningEffect]) -> Bool {
    guard let now = list.look(at: root, { $0.stamp }) else {
      go(number, &orphans)
      return false
    }
    if now == stamp { return true }
    let old = stamp
    stamp = now
    _ = list.look(at: root) { check($0, since: old, root, number, &orphans) }
    return !rows.isEmpty
  }

  @inlinable
  func check(
    _ now: Rows<Row>, since old: RowsStamp?, _ root: Root, _ number: Int,
    _ orphans: inout [RunningEffect]
  ) {
    let changed = old.flatMap { now.ids(changedSince: $0) }
    if let changed, changed.count < rows.count {
      for id in changed {
        if let place = rows[id] {
          check(place, id, isThere: now.index(id: id) != nil, root, number, &orphans)
        }
      }
    } else {
      for (id, place) in rows {
        check(place, id, isThere: now.index(id: id) != nil, root, number, &orphans)
      }
    }
  }

  @inlinable
  func check(
    _ place: PartPlace<Root, Row>, _ id: Row.ID, isThere: Bool, _ root: Root, _ number: Int,
    _ orphans: inout [RunningEffect]
  ) {
    if isThere {
      place.part?.parts?.check(root, number, &orphans)
    } else {
      rows[id] = nil
      place.part?.go(number, &orphans)
    }
  }

  @usableFromInline
  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    for place in rows.values { place.part?.go(number, &orphans) }
    rows = [:]
  }

  override func remove(_ part: PartEntry) {
    guard let part = part as? RowPart<Root, Row> else { return }
    rows[part.id] = nil
    if rows.isEmpty { table?.remove(self) }
  }
}

/// A row while it is there.
@usableFromInline
final class RowPart<Root: Sendable, Row: Identifiable & Sendable>: PartOfRoot<Root>,
  @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline let id: Row.ID

  @usableFromInline
  init(_ id: Row.ID, in outer: PartOfRoot<Root>?) {
    self.id = id
    super.init(in: outer)
  }

  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    super.go(number, &orphans)
    (node as? RowsNode<Root, Row>)?.feed?.leave(self, number)
  }

  override func listeners<Action>(
    in storage: StoreStorage<Root, Action>
  ) -> RowListeners<Root, Action>? {
    guard let node = node as? RowsNode<Root, Row> else { return nil }
    if let feed = node.feed as? RowsFeed<Root, Action, Row> { return feed.listeners(to: self) }
    let made = node.makeFeed?(storage, node) as? RowsFeed<Root, Action, Row>
    guard let feed = made ?? RowsFeed(of: storage, node) else { return nil }
    node.feed = feed
    return feed.listeners(to: self)
  }
}
