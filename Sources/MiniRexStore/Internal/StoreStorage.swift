public import MiniRex

/// The state of a store and all that happens to it: publishers keep it, tokens and effects do not.
///
/// Unchecked. `parked`, `beginners` and `deferred` are guarded by the lock of the delivery. The rest
/// belongs to the thread that has exclusive access to the state, which only the `gate` gives. That is
/// not a lock: reducers, ids and key paths run with it. The lock is taken with access, never the other
/// way round.
@usableFromInline
final class StoreStorage<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Event = StoreEvent<State, Action>

  @usableFromInline let delivery = Delivery<Event>()
  @usableFromInline let gate = StoreGate()
  @usableFromInline let reducer: Reducer<State, Action>
  @usableFromInline let link = StoreLink<State, Action>()
  /// Hears of events that wait, if the store is watched.
  @usableFromInline let lineage: Lineage?

  @exclusivity(unchecked) var parked: [Parking] = []
  @usableFromInline @exclusivity(unchecked) var beginners = StoreBeginners()
  @usableFromInline @exclusivity(unchecked)
  var deferred: [ThreadID: [EffectBeginning<Action>]] = [:]

  @usableFromInline @exclusivity(unchecked) var state: State
  @usableFromInline @exclusivity(unchecked) var chain = StoreChain()
  @usableFromInline @exclusivity(unchecked) var inputs = Queue<StoreInput<Action>>()
  @usableFromInline @exclusivity(unchecked) var told: [Event] = []
  @usableFromInline @exclusivity(unchecked) var book = EffectBook()
  @usableFromInline @exclusivity(unchecked) var beginnings = Few<EffectBeginning<Action>>()
  /// The groups of the chain and of the input that is handled; `nil` until somebody wants them.
  @usableFromInline @exclusivity(unchecked) var outerGroup: EffectGroup?
  @usableFromInline @exclusivity(unchecked) var group: EffectGroup?
  @exclusivity(unchecked) var members: [MemberKey: ObservedMember] = [:]
  /// `nil` until somebody wants one; it stays then, so who has a part need not ask for access.
  @usableFromInline @exclusivity(unchecked) var parts: StoreParts<State>?
  /// Those who remember what was committed.
  @exclusivity(unchecked) var histories: [HistoryHook<State, Action>] = []

  @inlinable
  init(_ state: State, lineage: Lineage?, reducer: @escaping Reducer<State, Action>) {
    unsafe self.state = state
    self.lineage = lineage
    self.reducer = reducer
  }
}

/// An effect that is to begin, and what it does.
@usableFromInline
enum EffectBeginning<Action: Sendable>: Sendable {
  case run(RunningEffect, EffectWork<Action>.Run)
  case publisher(RunningEffect, EffectWork<Action>.Subscribe)
}
