public import MiniRex
public import Synchronization

/// A child of a store's state, with the mapping of its actions.
///
/// Stores nothing but the last state of a removed child.
@usableFromInline
final class Scope<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>: AnyScope
{
  @usableFromInline typealias Follows =
    @Sendable (
      Scope, @escaping @Sendable (State) -> Void
    ) -> Subscription?

  @usableFromInline let storage: StoreStorage<Root, RootAction>
  @usableFromInline let place: ChildPath<Root, State>
  @usableFromInline let embed: @Sendable (Action) -> RootAction
  @usableFromInline let cache: ScopeCache
  @usableFromInline let key: ScopeKey
  /// `nil` if the child is not removable.
  @usableFromInline let last: LastSeenState<State>?
  /// A closure, because a requirement of a protocol is never specialized in a generic class.
  @usableFromInline let follows: Follows
  /// The scopes over children of this scope, `nil` until the first.
  @usableFromInline let inner = AtomicLazyReference<ScopeCache>()

  /// Needs exclusive access.
  ///
  /// - Parameter state: The current state of a removable child.
  @inlinable
  init(
    of storage: StoreStorage<Root, RootAction>, at place: ChildPath<Root, State>, _ state: State?,
    in cache: ScopeCache, as key: ScopeKey, embed: @escaping @Sendable (Action) -> RootAction
  ) {
    self.storage = storage
    self.place = place
    self.embed = embed
    self.cache = cache
    self.key = key
    let number = storage.inside.chain.number
    last = state.map { LastSeenState($0, number) }
    follows = { child, receive in
      child.storage.subscribe(child.follower { _, state in receive(state) }, in: child.place.child)
    }
    place.entry?.use()
  }

  deinit {
    if let entry = place.entry { storage.abandon(.child(entry)) }
  }

  @usableFromInline func storeWasReleased() { storage.abandon(.scope(cache, key)) }

  @usableFromInline var host: any StoreHost { storage }

  @usableFromInline var isActive: Bool { place.entry?.isGone != true }

  /// The last seen state of a removable child.
  private var lastState: State? { last?.state }

  @usableFromInline var state: State {
    let (state, number) = storage.withAccess {
      let number = storage.inside.chain.number
      return (isActive ? place.read(storage.state) : lastState, number)
    }
    guard let state else { misplaced() }
    last?.remember(state, number)
    return state
  }

  @usableFromInline func send(_ action: Action) -> StoreTask {
    let action = embed(action)
    return storage.send(action, in: place.entry)
  }

  @usableFromInline
  func send<Value>(_ action: Action, reading read: (State) -> Value) -> Receipt<Value> {
    sendReading(action, read)
  }

  @usableFromInline func send<Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    try sendDeciding(decide)
  }

  @usableFromInline func send<Value, Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action, reading read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value> {
    try sendDeciding(decide, read)
  }

  @usableFromInline func commit<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let thread = ThreadID.current
    storage.enterOutside(on: thread)
    guard isActive else {
      storage.leave()
      guard var state = lastState else { misplaced() }
      return try change(&state)
    }
    last?.forget()
    defer {
      keep()
      storage.commit(.change(name), on: thread)
    }
    return try change(&(storage.state[keyPath: place.path]))
  }

  @usableFromInline
  func open<Member>(_ member: WritableKeyPath<State, Member>) -> (Member, ThreadID?) {
    let thread = storage.openMember()
    if isActive { return (storage.state[keyPath: place.path][keyPath: member], thread) }
    storage.closeMember(openedOn: thread)
    storage.leave()
    guard let lastState else { misplaced() }
    return (lastState[keyPath: member], nil)
  }

  @usableFromInline func close<Member>(
    _ member: any WritableKeyPath<State, Member> & Sendable, _ value: Member,
    openedOn thread: ThreadID?
  ) {
    guard let thread else { return }
    storage.closeMember(openedOn: thread)
    last?.forget()
    storage.state[keyPath: place.path][keyPath: member] = value
    keep()
    storage.commit(
      .assignment(place.sendable(place.path.appending(path: member))), on: thread)
  }

  private var scopes: ScopeCache { inner.load() ?? inner.storeIfNil(ScopeCache()) }

  /// Stores the new state just before its commit.
  private func keep() {
    if let last {
      last.remember(storage.state[keyPath: place.path], storage.inside.chain.number + 1)
    }
  }

  @usableFromInline func find<Child, ChildAction>(
    _ key: ScopeKey, as type: Store<Child, ChildAction>.Type
  ) -> Store<Child, ChildAction>? {
    let scope = storage.withAccess { inner.load()?.find(key, as: type) }
    return scope?.isActive == true ? scope : nil
  }

  @usableFromInline func scope<Step: ScopeStep, ChildAction>(
    _ step: Step, _ key: ScopeKey, of store: Store<State, Action>,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Step.Child, ChildAction>? where Step.Outer == State {
    let outer = self.embed
    return storage.scope(
      step, at: place, in: scopes, as: key, of: store,
      lineage: store.lineage,
      last: { self.lastState }
    ) { outer(embed($0)) }
  }

  @usableFromInline func location(
    of member: any AnyKeyPath & Sendable
  ) -> (child: ObjectIdentifier?, path: any AnyKeyPath & Sendable) {
    (place.entry.map { ObjectIdentifier($0) }, place.key(of: member))
  }

  @usableFromInline
  var scopesInUse: [ScopeInUse] { storage.withAccess { inner.load()?.inUse ?? [] } }

  @usableFromInline func history(
    limit: Int, where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool
  ) -> AnyHistoryHook {
    storage.history(of: HistoryScope(of: place, last: last), limit: limit, where: isRemembered)
  }

  @usableFromInline
  func observe<Member>(_ member: any KeyPath<State, Member> & Sendable) -> Member {
    let key = MemberKey(path: place.key(of: member), aspect: .value)
    let value = storage.observe(key, in: place.child) { [self] in place.read($0)?[keyPath: member] }
    guard let value = value ?? lastState?[keyPath: member] else { misplaced() }
    return value
  }

  @usableFromInline func observeRows<Row>(_ rows: any KeyPath<State, Rows<Row>> & Sendable) {
    let key = MemberKey(path: place.key(of: rows), aspect: .ids)
    _ = storage.observe(key, in: place.child) { [place] root in
      place.read(root)?[keyPath: rows].structureStamp
    }
  }

  @usableFromInline func isPresent<Child>(_ child: any KeyPath<State, Child?> & Sendable) -> Bool {
    let key = MemberKey(path: place.key(of: child), aspect: .presence)
    return storage.observe(key, in: place.child) { [place] root in
      place.read(root).map { $0[keyPath: child] != nil }
    } ?? false
  }

  @usableFromInline func subscribe(
    toState receive: @escaping @Sendable (State) -> Void
  ) -> Subscription {
    if let subscription = follows(self, receive) { return subscription }
    if let lastState { receive(lastState) }
    return .ended
  }

  @usableFromInline func subscribe(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription {
    let follower = follower { number, state in
      receive(.committed(Commit(number: number, cause: .parent, state: state)))
    }
    return storage.join(follower, in: place.entry) ?? .ended
  }

  @usableFromInline func subscribeToCommits(
    _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> Subscription {
    let follower = follower { number, state in
      receive(Commit(number: number, cause: .parent, state: state))
    }
    return storage.subscribe(follower, in: place.child) ?? .ended
  }

  /// Returns a subscriber that passes on the child after each commit, until the child is removed.
  @inlinable
  func follower(
    _ receive: @escaping @Sendable (_ number: Int, State) -> Void
  ) -> ScopeSubscriber<Root, RootAction> {
    guard let last else {
      return ScopeSubscriber(cancellation: nil) { [place] event in
        guard case .committed(let commit) = event else { return }
        _ = place.look(at: commit.state) { receive(commit.number, $0) }
      }
    }
    let cancellation = EarlyCancellation()
    let isOver = SerialState(false)
    // The callback retains the scope, so the child stays in use.
    return ScopeSubscriber(cancellation: cancellation) { [self] event in
      guard case .committed(let commit) = event, !isOver.value else { return }
      guard let state = place.read(commit.state) else {
        isOver.value = true
        cancellation.cancel()
        return
      }
      last.remember(state, commit.number)
      receive(commit.number, state)
    }
  }

  /// Only a removable child can be missing.
  func misplaced() -> Never { fatalError("A child that is not removable is missing.") }
}
