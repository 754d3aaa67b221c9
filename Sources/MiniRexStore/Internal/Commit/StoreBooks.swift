public import MiniRex

/// The bookkeeping of a store, which only the thread with exclusive access uses.
@usableFromInline
@safe struct StoreBooks<State: Sendable, Action: Sendable>: ~Copyable {
  /// A Boolean value that indicates whether a closure of a `send` reads the state.
  @usableFromInline var isReading = false
  @usableFromInline var chain = StoreChain()
  @usableFromInline var inputs = Queue<StoreInput<Action>>()
  @usableFromInline var unpublished: [StoreEvent<State, Action>] = []
  @usableFromInline var effects = EffectRegistry()
  /// The effects of the chain, which start after the state is released.
  @usableFromInline var beginnings = SmallArray<EffectBeginning<Action>>()
  /// The groups of the chain and of the current input, `nil` until an effect needs them.
  @usableFromInline var outerGroup: EffectGroup?
  @usableFromInline var group: EffectGroup?
  /// The Swift task that is changing a member in place.
  ///
  /// Compared on its own thread and never dereferenced.
  var memberWriter: UnsafeCurrentTask?
  /// The scope that will read the current chain.
  @usableFromInline var readingScope: (any ReadingScope)?
  var members: [MemberKey: ObservedMember] = [:]
  /// `nil` until the first scope, and then constant, so the holder of a scope reads it without
  /// exclusive access.
  @usableFromInline var registry: ScopeRegistry<State>?
  /// The histories that record commits.
  var histories: [any HistoryHook<State, Action>] = []
  /// The histories that a commit of this chain has changed.
  var unsettled: [any HistoryHook<State, Action>] = []
  /// A Boolean value that indicates whether a log decides the actions, so that no state may be restored.
  var isReplicated = false
  /// The subscriptions of `events`, which receive the errors of effects.
  ///
  /// Empty in release builds.
  var eventSubscriptions: [WeakSubscription] = []

  @inlinable init() {}
}

/// The threads that wait for a store, or start its effects.
///
/// The lock of the delivery guards it.
@usableFromInline
struct StoreWaiting<Action: Sendable> {
  var parked = ParkedThreads()
  /// `true` if the thread that wakes the waiting threads must perform the deferred cleanups.
  var needsCleanup = false
  @usableFromInline var starter = EffectStarter()
  /// The effects that a thread has entered while it starts another.
  @usableFromInline var deferred: [ThreadID: [EffectBeginning<Action>]] = [:]

  @usableFromInline init() {}
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

/// A weak reference to a subscription of `events`.
struct WeakSubscription {
  weak var subscription: Subscription?
}
