public import MiniRex
public import Synchronization

/// The subscribers of a row and of its children, which retain this object.
@usableFromInline
final class RowSubscribers<State: Sendable, Action: Sendable>: Sendable {
  @usableFromInline let delivery = Delivery<StoreEvent<State, Action>>()
  /// The presence of the row.
  ///
  /// A later row with the same ID has another presence.
  let child: PresenceIn<State>
  /// The number of the last commit before the first subscription.
  @usableFromInline let since: Int
  /// The position in the order of first subscriptions.
  @usableFromInline let serial: Int
  /// The number of the commit that removed the row, or `Int.max`, written with exclusive access.
  @usableFromInline let goneAt = Atomic(Int.max)
  private let storage: StoreStorage<State, Action>
  private let listDelivery: any RowsDelivering

  @usableFromInline
  init(
    _ child: PresenceIn<State>, since: Int, serial: Int, of listDelivery: any RowsDelivering,
    _ storage: StoreStorage<State, Action>
  ) {
    self.child = child
    self.since = since
    self.serial = serial
    self.listDelivery = listDelivery
    self.storage = storage
  }

  deinit {
    storage.abandon(.listeners(listDelivery, child))
  }
}

/// A list that publishes to its rows, independent of types.
@usableFromInline
protocol RowsDelivering: AnyObject, Sendable {
  /// Removes a row without subscribers.
  ///
  /// Needs exclusive access.
  ///
  /// - Returns: An object to release after the state is released.
  func forget(_ child: Presence) -> Any?

  /// Notes that a commit has removed the row.
  ///
  /// Needs exclusive access.
  func leave(_ child: Presence, _ number: Int)
}
