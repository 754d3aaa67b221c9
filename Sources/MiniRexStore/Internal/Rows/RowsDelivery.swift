public import MiniRex

/// Publishes each commit to the rows that it changed.
///
/// Holds one subscription to the store, or to the row that contains the list. Unchecked:
/// `lastStamp` is used by the serial callback only, and exclusive access to the store guards the
/// rest.
@usableFromInline
final class RowsDelivery<State: Sendable, Action: Sendable, Row: Identifiable & Sendable>:
  RowsDelivering,
  @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline
  struct Reference {
    @usableFromInline weak var listeners: RowSubscribers<State, Action>?

    @usableFromInline
    init(_ listeners: RowSubscribers<State, Action>) { self.listeners = listeners }
  }

  @usableFromInline
  typealias Target = (listeners: RowSubscribers<State, Action>, isLast: Bool)

  @usableFromInline let storage: StoreStorage<State, Action>
  @usableFromInline let list: ChildPath<State, Rows<Row>>
  @usableFromInline weak let node: RowsNode<State, Row>?
  @usableFromInline var rows: [Row.ID: Reference] = [:]
  /// The subscribers of removed rows that have not received the removal.
  @usableFromInline var leaving: [RowSubscribers<State, Action>] = []
  @usableFromInline var lastSerial = 0
  @usableFromInline var subscription: Subscription?
  /// The stamp of the last published rows.
  ///
  /// Storing the rows would copy them on every change.
  @usableFromInline var lastStamp: RowsStamp

  /// Creates the delivery of a list, which subscribes to the store.
  ///
  /// Needs exclusive access. Returns `nil` if the list does not exist or the store was released.
  @inlinable
  init?(of storage: StoreStorage<State, Action>, _ node: RowsNode<State, Row>) {
    guard let stamp = node.list.look(at: storage.state, { $0.stamp }) else { return nil }
    self.storage = storage
    self.node = node
    list = node.list
    lastStamp = stamp
    let sentinel = Sentinel { [self] in end() }
    subscription = storage.join(storage.listeners(to: list.child)) { [self] event in
      withExtendedLifetime(sentinel) { publish(event) }
    }
    if subscription == nil { return nil }
  }

  /// Returns the subscribers of a row, and creates them on first use.
  ///
  /// Needs exclusive access.
  func listeners(to child: RowPresence<State, Row>) -> RowSubscribers<State, Action> {
    if let listeners = rows[child.id]?.listeners { return listeners }
    lastSerial += 1
    let listeners = RowSubscribers(
      child, since: storage.inside.chain.number, serial: lastSerial, of: self, storage)
    rows[child.id] = Reference(listeners)
    return listeners
  }

  /// Moves the subscribers of a removed row to `leaving`.
  ///
  /// They are kept apart, because a row with the same ID can be added before they receive the
  /// removal. Needs exclusive access.
  @usableFromInline
  func leave(_ child: Presence, _ number: Int) {
    guard let child = child as? RowPresence<State, Row>,
      let listeners = rows.removeValue(forKey: child.id)?.listeners
    else { return }
    listeners.goneAt.relaxed = number
    leaving.append(listeners)
  }

  @usableFromInline
  func forget(_ child: Presence) -> Any? {
    if let child = child as? RowPresence<State, Row>, let reference = rows[child.id],
      reference.listeners == nil
    {
      rows[child.id] = nil
    }
    guard rows.isEmpty, leaving.isEmpty else { return nil }
    if node?.delivery === self { node?.delivery = nil }
    return subscription.take()
  }

  @inlinable
  func publish(_ event: StoreEvent<State, Action>) {
    guard case .committed(let commit) = event else { return }
    guard let now = list.look(at: commit.state, { $0.stamp }) else { return end(with: event) }
    if now == lastStamp { return }
    let changed = list.look(at: commit.state) { $0.ids(changedSince: lastStamp) } ?? nil
    lastStamp = now
    for target in storage.withAccess({ targets(changed, commit.number) }) {
      publish(target, event)
    }
  }

  @inlinable
  func publish(_ target: Target, _ event: StoreEvent<State, Action>) {
    target.listeners.delivery.send(event)
    if target.isLast { target.listeners.delivery.end() }
  }

  /// Returns the subscribers that receive a commit, in the order of their first subscriptions.
  ///
  /// Needs exclusive access.
  ///
  /// - Parameter changed: The IDs of the changed rows, or `nil` for all rows.
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
      targets.append((listeners, listeners.goneAt.relaxed <= number))
    }
    if !leaving.isEmpty { leaving.removeAll { $0.goneAt.relaxed <= number } }
    if targets.count > 1 { targets.sort { $0.listeners.serial < $1.listeners.serial } }
    return targets
  }

  /// Finishes all subscribers, because the list was removed or the store was released.
  @usableFromInline
  func end(with event: StoreEvent<State, Action>? = nil) {
    let (all, subscription) = storage.withAccessAnyhow {
      let all = leaving + rows.values.compactMap { $0.listeners }
      leaving = []
      rows = [:]
      if node?.delivery === self { node?.delivery = nil }
      return (all.sorted { $0.serial < $1.serial }, self.subscription.take())
    }
    for listeners in all {
      if let event { listeners.delivery.send(event) }
      listeners.delivery.end()
    }
    subscription?.invalidate()
  }
}
