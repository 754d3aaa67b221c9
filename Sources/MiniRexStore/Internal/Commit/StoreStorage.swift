public import MiniRex

/// The state of a store and its machinery.
///
/// Publishers retain it. Subscriptions and effects do not.
///
/// Unchecked: the lock of the delivery guards `parked`, `beginners`, and `deferred`. Exclusive
/// access, given by `gate`, guards everything else. The gate is not a lock, because reducers, IDs,
/// and key paths run inside. The lock can be taken inside the gate, but not the other way around.
@safe @usableFromInline
final class StoreStorage<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Event = StoreEvent<State, Action>

  @usableFromInline let delivery = Delivery<Event>()
  @usableFromInline let gate = StoreGate()
  @usableFromInline let reducer: Reducer<State, Action>
  @usableFromInline let link = WeakStore<State, Action>()
  /// Receives undelivered events if the store has an instrument.
  @usableFromInline let lineage: Lineage?
  /// The line that created the store, for advice.
  @usableFromInline let place: CodePlace

  @exclusivity(unchecked) var parked: [Parking] = []
  @exclusivity(unchecked) var eventSubscriptions: [WeakSubscription] = []
  @usableFromInline @exclusivity(unchecked) var beginners = EffectStarter()
  @usableFromInline @exclusivity(unchecked)
  var deferred: [ThreadID: [EffectBeginning<Action>]] = [:]

  /// A Boolean value that indicates whether a closure of a `send` reads the state.
  ///
  /// Declared before the state, so that its offset is constant.
  @usableFromInline @exclusivity(unchecked) var isReading = false
  @usableFromInline @exclusivity(unchecked) var state: State
  @usableFromInline @exclusivity(unchecked) var chain = StoreChain()
  @usableFromInline @exclusivity(unchecked) var inputs = Queue<StoreInput<Action>>()
  @usableFromInline @exclusivity(unchecked) var unpublished: [Event] = []
  @usableFromInline @exclusivity(unchecked) var book = EffectRegistry()
  @usableFromInline @exclusivity(unchecked) var beginnings = SmallArray<EffectBeginning<Action>>()
  /// The groups of the chain and of the current input, `nil` until an effect needs them.
  @usableFromInline @exclusivity(unchecked) var outerGroup: EffectGroup?
  @usableFromInline @exclusivity(unchecked) var group: EffectGroup?
  /// The Swift task that is changing a member in place.
  ///
  /// Compared on its own thread and never dereferenced.
  @exclusivity(unchecked) var memberWriter: UnsafeCurrentTask?
  /// The scope that will read the current chain.
  @usableFromInline @exclusivity(unchecked) var readingScope: (any ReadingScope)?
  @exclusivity(unchecked) var members: [MemberKey: ObservedMember] = [:]
  /// `nil` until the first scope, and then constant, so the holder of a scope reads it without
  /// exclusive access.
  @usableFromInline @exclusivity(unchecked) var parts: ScopeRegistry<State>?
  /// The histories that record commits.
  @exclusivity(unchecked) var histories: [HistoryHook<State, Action>] = []
  /// The histories that a commit of this chain has changed.
  @exclusivity(unchecked) var unsettled: [HistoryHook<State, Action>] = []
  /// A Boolean value that indicates whether a log decides the actions, so that no state may be restored.
  @exclusivity(unchecked) var isReplicated = false

  @inlinable
  init(
    _ state: State, lineage: Lineage?, place: CodePlace, reducer: @escaping Reducer<State, Action>
  ) {
    unsafe self.state = state
    self.lineage = lineage
    self.place = place
    self.reducer = reducer
  }
}

/// An entered effect with its work, which starts after the state is released.
@usableFromInline
enum EffectBeginning<Action: Sendable>: Sendable {
  case run(RunningEffect, EffectWork<Action>.Run)
  case publisher(RunningEffect, EffectWork<Action>.Subscribe)

  @inlinable var effect: RunningEffect {
    switch self {
    case .run(let effect, _), .publisher(let effect, _): effect
    }
  }
}
