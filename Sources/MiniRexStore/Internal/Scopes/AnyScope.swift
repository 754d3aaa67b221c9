public import MiniRex

/// The backing of a scope, which alone knows the types of the store.
@usableFromInline
protocol AnyScope<State, Action>: AnyObject, Sendable {
  associatedtype State: Sendable
  associatedtype Action: Sendable

  var host: any StoreHost { get }
  var isActive: Bool { get }
  var state: State { get }

  func send(_ action: Action) -> StoreTask

  func send<Value>(_ action: Action, reading read: (State) -> Value) -> Receipt<Value>

  func send<Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask

  func send<Value, Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action, reading read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value>

  func commit<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result

  /// Begins to write a member with exclusive access, which lasts until the write.
  ///
  /// - Returns: The member, and `nil` as the thread if the child was removed.
  func open<Member>(_ member: WritableKeyPath<State, Member>) -> (Member, ThreadID?)

  func close<Member>(
    _ member: any WritableKeyPath<State, Member> & Sendable, _ value: Member,
    openedOn thread: ThreadID?)

  func observe<Member>(_ member: any KeyPath<State, Member> & Sendable) -> Member

  /// Emits the current child, and the child after each commit that may have changed it.
  func subscribe(toState receive: @escaping @Sendable (State) -> Void) -> Subscription

  func subscribe(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription

  /// Emits the current child with the number of the last commit, and the child after each commit.
  func subscribeToCommits(
    _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> Subscription

  func scope<Step: ScopeStep, ChildAction>(
    _ step: Step, _ key: ScopeKey, of store: Store<State, Action>,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Step.Child, ChildAction>? where Step.Outer == State

  func history(
    limit: Int, where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool
  ) -> AnyHistoryHook

  func isPresent<Child>(_ child: any KeyPath<State, Child?> & Sendable) -> Bool

  func observeRows<Row>(_ rows: any KeyPath<State, Rows<Row>> & Sendable)

  /// Returns an existing scope.
  func find<Child, ChildAction>(
    _ key: ScopeKey, as type: Store<Child, ChildAction>.Type
  ) -> Store<Child, ChildAction>?

  var scopesInUse: [ScopeInUse] { get }

  /// Returns the location of a member: the innermost removable child around it, and the key path from there.
  func location(
    of member: any AnyKeyPath & Sendable
  ) -> (child: ObjectIdentifier?, path: any AnyKeyPath & Sendable)

  /// Called when the scope's `Store` object is released.
  func storeWasReleased()
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
  func delivered() async
  func unfinishedEffects(atMost count: Int) -> [EffectStatus]
}

/// The backing of a store: its own storage, or a child of another store's state.
@usableFromInline
enum StoreBacking<State: Sendable, Action: Sendable>: Sendable {
  case root(StoreStorage<State, Action>)
  case scope(any AnyScope<State, Action>)
}
