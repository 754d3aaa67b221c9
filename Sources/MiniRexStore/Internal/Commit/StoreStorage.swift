public import MiniRex

/// The state of a store and its machinery.
///
/// Publishers retain it. Subscriptions and effects do not.
///
/// Unchecked: the lock of the delivery guards `underLock`. Exclusive access guards `inside` and
/// `held`, and they are marked safe because each use is inside. Exclusive access is not a lock,
/// because reducers, IDs, and key paths run inside. The lock can be taken inside, but not the other
/// way around.
@safe @usableFromInline
final class StoreStorage<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Event = StoreEvent<State, Action>

  @usableFromInline let delivery = Delivery<Event>()
  @usableFromInline let access = StoreAccess()
  @usableFromInline let reducer: Reducer<State, Action>
  @usableFromInline let weakStore = WeakStore<State, Action>()
  /// Receives undelivered events if the store has an instrument.
  @usableFromInline let lineage: Lineage?
  /// The line that created the store, for advice.
  @usableFromInline let place: CodePlace

  @usableFromInline @safe @exclusivity(unchecked) var underLock = StoreWaiting<Action>()
  /// Declared before the state, so that its offset is constant.
  @usableFromInline @safe @exclusivity(unchecked) var inside = StoreBooks<State, Action>()
  @usableFromInline @safe @exclusivity(unchecked) var held: ChainLink<State>

  @inlinable
  init(
    _ state: State, lineage: Lineage?, place: CodePlace, reducer: @escaping Reducer<State, Action>
  ) {
    held = ChainLink(state)
    self.lineage = lineage
    self.place = place
    self.reducer = reducer
  }

  @inlinable var state: State {
    @inline(__always) _read { yield held.content }
    @inline(__always) _modify { yield &held.content }
  }
}
