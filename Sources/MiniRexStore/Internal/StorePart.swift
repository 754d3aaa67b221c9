public import MiniRex

/// What stands behind a scope: a part of the state of a store whose types only the subclass knows.
///
/// Unchecked, because it is inherited from. It has no state.
@usableFromInline
class StorePart<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline var host: any StoreHost { absent() }
  @usableFromInline var isActive: Bool { absent() }
  @usableFromInline var state: State { absent() }

  @usableFromInline
  func send(_ action: Action) -> EffectGroup? { absent() }

  @usableFromInline
  func commit<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result { absent() }

  /// Begins to write a member; the state belongs to the thread until it is written.
  @usableFromInline
  func open<Member>(_ member: WritableKeyPath<State, Member>) -> (Member, isThere: Bool) {
    absent()
  }

  @usableFromInline
  func close<Member>(
    _ member: any WritableKeyPath<State, Member> & Sendable, _ value: Member, isThere: Bool
  ) { absent() }

  @usableFromInline
  func observe<Member>(_ member: any KeyPath<State, Member> & Sendable) -> Member { absent() }

  @usableFromInline
  init() {}

  /// Gives the part as it is now, and as it is after each commit that may have changed it.
  @usableFromInline
  func subscribe(toState receive: @escaping @Sendable (State) -> Void) -> Subscription { absent() }

  func subscribe(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription { absent() }

  /// Gives the part as it is now, with the number of the last commit, and as it is after each commit.
  func follow(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void) -> Subscription {
    absent()
  }

  @usableFromInline
  func scope<Step: PartStep, PartAction>(
    _ step: Step, _ key: ScopeKey, of store: Store<State, Action>,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Step.Part, PartAction>? where Step.Outer == State { absent() }

  func history(
    limit: Int, where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool
  ) -> AnyHistoryHook { absent() }

  @usableFromInline
  func isPresent<Part>(_ part: any KeyPath<State, Part?> & Sendable) -> Bool { absent() }

  @usableFromInline
  func observeRows<Row>(_ rows: any KeyPath<State, Rows<Row>> & Sendable) { absent() }

  /// The scope with the key that there is.
  @usableFromInline
  func find<Part, PartAction>(
    _ key: ScopeKey, as type: Store<Part, PartAction>.Type
  ) -> Store<Part, PartAction>? { absent() }

  /// The scope that stood for it is gone.
  func storeHasGone() {}

  private func absent() -> Never { fatalError("A StorePart is made by its subclass only.") }
}

/// A store, as its scopes know it.
@usableFromInline
protocol StoreHost: AnyObject, Sendable {
  var effectCount: Int { get }
  var subscriberCount: Int { get }
  var pendingUpdates: Int { get }
  var hasForgottenEffects: Bool { get }
  var hasForgottenParts: Bool { get }
}

/// What a store is made of: a state, or a part of the state of another one.
@usableFromInline
enum StoreBacking<State: Sendable, Action: Sendable>: Sendable {
  case root(StoreStorage<State, Action>)
  case part(StorePart<State, Action>)
}
