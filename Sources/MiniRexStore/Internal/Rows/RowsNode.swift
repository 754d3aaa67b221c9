/// The rows of a list that are in use, and their subscribers.
@usableFromInline
final class RowsNode<Root: Sendable, Row: Identifiable & Sendable>: PresenceNode<Root>
where Row.ID: Sendable {
  @usableFromInline let list: ChildPath<Root, Rows<Row>>
  @usableFromInline var rows: [Row.ID: ChildPath<Root, Row>] = [:]
  /// The stamp of the rows at the last check, `nil` before the first check.
  @usableFromInline var stamp: RowsStamp?
  /// A `RowsDelivery` while a row has subscribers.
  @usableFromInline var delivery: (any RowsDelivering)?
  /// Creates the delivery where the concrete types are known.
  ///
  /// `nil` until a scope provides it.
  @usableFromInline var makeDelivery: ((AnyObject, AnyObject) -> (any RowsDelivering)?)?

  @inlinable
  init(_ list: ChildPath<Root, Rows<Row>>, _ key: AnyKeyPath) {
    self.list = list
    super.init(key) { node, root, number, orphans in
      unsafe unsafeDowncast(node, to: RowsNode.self).check(root, number, &orphans)
    }
  }

  @inlinable
  func place(_ id: Row.ID) -> ChildPath<Root, Row> {
    if let place = rows[id] { return place }
    let child = RowPresence<Root, Row>(id, in: list.child)
    child.node = self
    let list = list
    let place = ChildPath(
      list.path.appending(path: \Rows<Row>.[id: id]).appending(path: \.!), in: child, nil
    ) { list.look(at: $0) { $0[id: id] } ?? nil }
    rows[id] = place
    return place
  }

  /// Checks only the rows that changed since the last check.
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
    _ place: ChildPath<Root, Row>, _ id: Row.ID, isThere: Bool, _ root: Root, _ number: Int,
    _ orphans: inout [RunningEffect]
  ) {
    if isThere {
      place.child?.children?.check(root, number, &orphans)
    } else {
      rows[id] = nil
      place.child?.go(number, &orphans)
    }
  }

  @usableFromInline
  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    for place in rows.values { place.child?.go(number, &orphans) }
    rows = [:]
  }

  override func remove(_ child: Presence) {
    guard let child = child as? RowPresence<Root, Row> else { return }
    rows[child.id] = nil
    if rows.isEmpty { table?.remove(self) }
  }
}

/// The presence of a row.
///
/// Unchecked like `Presence`, for the same reason.
@usableFromInline
final class RowPresence<Root: Sendable, Row: Identifiable & Sendable>: PresenceIn<Root>,
  @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline let id: Row.ID

  @usableFromInline
  init(_ id: Row.ID, in outer: PresenceIn<Root>?) {
    self.id = id
    super.init(in: outer)
  }

  override func rowChange(
    since stamp: RowsStamp?, in state: Root
  ) -> (stamp: RowsStamp, isChanged: Bool)? {
    guard let node = node as? RowsNode<Root, Row> else { return nil }
    return node.list.look(at: state) { rows in
      let changed = stamp.flatMap { rows.ids(changedSince: $0) }
      return (rows.stamp, changed?.contains(id) ?? true)
    }
  }

  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    super.go(number, &orphans)
    (node as? RowsNode<Root, Row>)?.delivery?.leave(self, number)
  }

  override func listeners<Action>(
    in storage: StoreStorage<Root, Action>
  ) -> RowSubscribers<Root, Action>? {
    guard let node = node as? RowsNode<Root, Row> else { return nil }
    if let delivery = node.delivery as? RowsDelivery<Root, Action, Row> {
      return delivery.listeners(to: self)
    }
    let made = node.makeDelivery?(storage, node) as? RowsDelivery<Root, Action, Row>
    guard let delivery = made ?? RowsDelivery(of: storage, node) else { return nil }
    node.delivery = delivery
    return delivery.listeners(to: self)
  }
}
