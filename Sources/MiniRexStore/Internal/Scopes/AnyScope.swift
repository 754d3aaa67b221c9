public import MiniRex

/// The backing of a scope.
///
/// Only the subclass knows the types of the store.
///
/// Unchecked because subclasses inherit the conformance. Has no stored state.
@usableFromInline
class AnyScope<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline var host: any StoreHost { absent() }
  @usableFromInline var isActive: Bool { absent() }
  @usableFromInline var state: State { absent() }

  @usableFromInline
  func send(_ action: Action) -> StoreTask { absent() }

  func send<Value>(_ action: Action, reading read: (State) -> Value) -> Receipt<Value> { absent() }

  func send<Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask { absent() }

  func send<Value, Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action, reading read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value> { absent() }

  @usableFromInline
  func commit<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result { absent() }

  /// Begins to write a member with exclusive access, which lasts until the write.
  ///
  /// - Returns: The member, and `nil` as the thread if the child was removed.
  @usableFromInline
  func open<Member>(_ member: WritableKeyPath<State, Member>) -> (Member, ThreadID?) {
    absent()
  }

  @usableFromInline
  func close<Member>(
    _ member: any WritableKeyPath<State, Member> & Sendable, _ value: Member,
    openedOn thread: ThreadID?
  ) { absent() }

  @usableFromInline
  func observe<Member>(_ member: any KeyPath<State, Member> & Sendable) -> Member { absent() }

  @usableFromInline
  init() {}

  /// Emits the current child, and the child after each commit that may have changed it.
  @usableFromInline
  func subscribe(toState receive: @escaping @Sendable (State) -> Void) -> Subscription { absent() }

  func subscribe(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription { absent() }

  /// Emits the current child with the number of the last commit, and the child after each commit.
  @usableFromInline
  func subscribeToCommits(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void)
    -> Subscription
  {
    absent()
  }

  @usableFromInline
  func scope<Step: ScopeStep, ChildAction>(
    _ step: Step, _ key: ScopeKey, of store: Store<State, Action>,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Step.Child, ChildAction>? where Step.Outer == State { absent() }

  func history(
    limit: Int, where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool
  ) -> AnyHistoryHook { absent() }

  @usableFromInline
  func isPresent<Child>(_ child: any KeyPath<State, Child?> & Sendable) -> Bool { absent() }

  @usableFromInline
  func observeRows<Row>(_ rows: any KeyPath<State, Rows<Row>> & Sendable) { absent() }

  /// Returns an existing scope.
  @usableFromInline
  func find<Child, ChildAction>(
    _ key: ScopeKey, as type: Store<Child, ChildAction>.Type
  ) -> Store<Child, ChildAction>? { absent() }

  var scopesInUse: [ScopeInUse] { absent() }

  /// Returns the location of a member: the innermost removable child around it, and the key path from there.
  func location(of member: AnyKeyPath) -> (child: ObjectIdentifier?, path: AnyKeyPath) { absent() }

  /// Called when the scope's `Store` object is released.
  func storeWasReleased() {}

  private func absent() -> Never { fatalError("A subclass of AnyScope overrides this member.") }
}

/// The interface of a store for its scopes.
@usableFromInline
protocol StoreHost: AnyObject, Sendable {
  var effectCount: Int { get }
  var subscriberCount: Int { get }
  var pendingUpdates: Int { get }
  var hasForgottenEffects: Bool { get }
  var hasForgottenScopes: Bool { get }
  var effectTotal: Int { get }
  var commitTotal: Int { get }
  func unfinishedEffects(atMost count: Int) -> [EffectStatus]
}

/// The backing of a store: its own storage, or a child of another store's state.
@usableFromInline
enum StoreBacking<State: Sendable, Action: Sendable>: Sendable {
  case root(StoreStorage<State, Action>)
  case scope(AnyScope<State, Action>)
}
