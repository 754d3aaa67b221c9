public import MiniRex

/// Those who listen to a row, or to something in it, for as long as anybody does: they keep it.
///
/// Unchecked: what is not constant is guarded by exclusive access to the store.
@usableFromInline
final class RowListeners<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline let delivery = Delivery<StoreEvent<State, Action>>()
  /// The row, and no other one that has its id later.
  let part: PartOfRoot<State>
  /// The number of the commit after which it began.
  @usableFromInline let since: Int
  /// In the order in which rows were listened to first.
  @usableFromInline let serial: Int
  /// The number of the commit that removed the row.
  @usableFromInline var goneAt: Int?
  private let storage: StoreStorage<State, Action>
  private let feed: any RowsFeeding

  @usableFromInline
  init(
    _ part: PartOfRoot<State>, since: Int, serial: Int, of feed: any RowsFeeding,
    _ storage: StoreStorage<State, Action>
  ) {
    self.part = part
    self.since = since
    self.serial = serial
    self.feed = feed
    self.storage = storage
  }

  deinit {
    storage.abandon(.listeners(feed, part))
  }
}

/// A list that tells its rows, whatever the types.
@usableFromInline
protocol RowsFeeding: AnyObject, Sendable {
  /// With exclusive access: nobody listens to the row any more.
  ///
  /// - Returns: What is to be released after that.
  func forget(_ part: PartEntry) -> Any?

  /// With exclusive access: the row has gone, with the commit of this number.
  func leave(_ part: PartEntry, _ number: Int)
}
