public import MiniRex

/// Tells the rows of a list, and only those that a commit has changed, of the commit.
///
/// It is one subscription to the store, or to the row that the list is in. Unchecked: `told` is the
/// callback's own, the rest is guarded by exclusive access to the store.
@usableFromInline
final class RowsFeed<State: Sendable, Action: Sendable, Row: Identifiable & Sendable>: RowsFeeding,
  @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline
  struct Reference {
    @usableFromInline weak var listeners: RowListeners<State, Action>?

    @usableFromInline
    init(_ listeners: RowListeners<State, Action>) { self.listeners = listeners }
  }

  @usableFromInline
  typealias Target = (listeners: RowListeners<State, Action>, isLast: Bool)

  @usableFromInline let storage: StoreStorage<State, Action>
  @usableFromInline let list: PartPlace<State, Rows<Row>>
  @usableFromInline weak let node: RowsNode<State, Row>?
  @usableFromInline var rows: [Row.ID: Reference] = [:]
  /// Listeners to rows that have gone, until they are told.
  @usableFromInline var leaving: [RowListeners<State, Action>] = []
  @usableFromInline var lastSerial = 0
  @usableFromInline var token: Subscription?
  /// A stamp, and not the rows, or every change would copy them.
  @usableFromInline var told: RowsStamp

  /// With exclusive access; `nil` if there is no such list, or the store has ended.
  @inlinable
  init?(of storage: StoreStorage<State, Action>, _ node: RowsNode<State, Row>) {
    guard let stamp = unsafe node.list.look(at: storage.state, { $0.stamp }) else { return nil }
    self.storage = storage
    self.node = node
    list = node.list
    told = stamp
    let sentinel = Sentinel { [self] in end() }
    token = storage.join(storage.listeners(to: list.part)) { [self] event in
      withExtendedLifetime(sentinel) { tell(event) }
    }
    if token == nil { return nil }
  }

  /// With exclusive access.
  func listeners(to part: RowPart<State, Row>) -> RowListeners<State, Action> {
    if let listeners = rows[part.id]?.listeners { return listeners }
    lastSerial += 1
    let listeners = RowListeners(
      part, since: unsafe storage.chain.number, serial: lastSerial, of: self, storage)
    rows[part.id] = Reference(listeners)
    return listeners
  }

  /// With exclusive access: a row with the id may come again before those who listened are told.
  @usableFromInline
  func leave(_ part: PartEntry, _ number: Int) {
    guard let part = part as? RowPart<State, Row>,
      let listeners = rows.removeValue(forKey: part.id)?.listeners
    else { return }
    listeners.goneAt = number
    leaving.append(listeners)
  }

  @usableFromInline
  func forget(_ part: PartEntry) -> Any? {
    if let part = part as? RowPart<State, Row>, let reference = rows[part.id],
      reference.listeners == nil
    {
      rows[part.id] = nil
    }
    guard rows.isEmpty, leaving.isEmpty else { return nil }
    if node?.feed === self { node?.feed = nil }
    return token.take()
  }

  @inlinable
  func tell(_ event: StoreEvent<State, Action>) {
    guard case .committed(let commit) = event else { return }
    guard let now = list.look(at: commit.state, { $0.stamp }) else { return end(with: event) }
    if now == told { return }
    let changed = list.look(at: commit.state) { $0.ids(changedSince: told) } ?? nil
    told = now
    for target in storage.withAccess({ targets(changed, commit.number) }) {
      tell(target, event)
    }
  }

  @inlinable
  func tell(_ target: Target, _ event: StoreEvent<State, Action>) {
    target.listeners.delivery.send(event)
    if target.isLast { target.listeners.delivery.end() }
  }

  /// With exclusive access.
  ///
  /// - Parameter changed: `nil` for all.
  @inlinable
  func targets(_ changed: [Row.ID]?, _ number: Int) -> [Target] {
    var targets: [Target] = []
    if let changed {
      for id in changed {
        if let listeners = rows[id]?.listeners { targets.append((listeners, false)) }
      }
    } else {
      for row in rows.values {
        if let listeners = row.listeners { targets.append((listeners, false)) }
      }
    }
    targets.removeAll { $0.listeners.since >= number }
    for listeners in leaving {
      targets.append((listeners, listeners.goneAt.map { $0 <= number } ?? false))
    }
    if !leaving.isEmpty { leaving.removeAll { $0.goneAt.map { $0 <= number } ?? false } }
    if targets.count > 1 { targets.sort { $0.listeners.serial < $1.listeners.serial } }
    return targets
  }

  /// The list has gone, or the store.
  @usableFromInline
  func end(with event: StoreEvent<State, Action>? = nil) {
    let (all, token) = storage.withAccessAnyhow {
      let all = leaving + rows.values.compactMap { $0.listeners }
      leaving = []
      rows = [:]
      if node?.feed === self { node?.feed = nil }
      return (all.sorted { $0.serial < $1.serial }, self.token.take())
    }
    for listeners in all {
      if let event { listeners.delivery.send(event) }
      listeners.delivery.end()
    }
    token?.invalidate()
  }
}
