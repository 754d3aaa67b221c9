public import MiniRex

/// A part of the state of a store, and how its actions are actions of the whole.
///
/// It has no state but what is left when the part has gone.
@usableFromInline
final class ScopedPart<Root: Sendable, RootAction: Sendable, State: Sendable, Action: Sendable>:
  StorePart<State, Action>, @unchecked Sendable
{
  @usableFromInline typealias Follows = (
    ScopedPart, @escaping @Sendable (State) -> Void
  ) -> Subscription?

  @usableFromInline let storage: StoreStorage<Root, RootAction>
  @usableFromInline let place: PartPlace<Root, State>
  @usableFromInline let embed: @Sendable (Action) -> RootAction
  @usableFromInline let cache: ScopeCache
  @usableFromInline let key: ScopeKey
  /// `nil` if the part is always there.
  @usableFromInline let last: PartMemory<State>?
  /// A closure, because an override is never compiled for the types that it has.
  @usableFromInline let follows: Follows
  /// The scopes of it, once there are any; used with exclusive access.
  private var inner: ScopeCache?

  /// Has exclusive access.
  ///
  /// - Parameter state: What it is now, if it may go.
  @inlinable
  init(
    of storage: StoreStorage<Root, RootAction>, at place: PartPlace<Root, State>, _ state: State?,
    in cache: ScopeCache, as key: ScopeKey, embed: @escaping @Sendable (Action) -> RootAction
  ) {
    self.storage = storage
    self.place = place
    self.embed = embed
    self.cache = cache
    self.key = key
    let number = unsafe storage.chain.number
    last = state.map { PartMemory($0, number) }
    follows = { part, receive in
      part.storage.subscribe(part.follower { _, state in receive(state) }, in: part.place.part)
    }
    super.init()
    place.entry?.use()
  }

  deinit {
    if let entry = place.entry { storage.abandon(.part(entry)) }
  }

  override func storeHasGone() { storage.abandon(.scope(cache, key)) }

  override var host: any StoreHost { storage }

  override var isActive: Bool { place.entry?.isGone != true }

  /// What it was when it was seen last; `nil` if it is always there.
  private var lastState: State? { last?.state }

  override var state: State {
    let (state, number) = storage.withAccess {
      let number = unsafe storage.chain.number
      return unsafe (isActive ? place.read(storage.state) : lastState, number)
    }
    guard let state else { misplaced() }
    last?.remember(state, number)
    return state
  }

  override func send(_ action: Action) -> EffectGroup? {
    let action = embed(action)
    return storage.send(action, in: place.entry)
  }

  override func commit<Result, Failure: Error>(
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
    return try change(&(unsafe storage.state[keyPath: place.path]))
  }

  override func open<Member>(_ member: WritableKeyPath<State, Member>) -> (Member, isThere: Bool) {
    storage.enterOutside(on: ThreadID.current)
    if isActive { return unsafe (storage.state[keyPath: place.path][keyPath: member], true) }
    storage.leave()
    guard let lastState else { misplaced() }
    return (lastState[keyPath: member], false)
  }

  override func close<Member>(
    _ member: any WritableKeyPath<State, Member> & Sendable, _ value: Member, isThere: Bool
  ) {
    guard isThere else { return }
    last?.forget()
    unsafe storage.state[keyPath: place.path][keyPath: member] = value
    keep()
    storage.commit(
      .assignment(place.sendable(place.path.appending(path: member))), on: ThreadID.current)
  }

  private var scopes: ScopeCache {
    if let inner { return inner }
    let made = ScopeCache()
    inner = made
    return made
  }

  /// Before the commit that has just been made.
  private func keep() {
    if let last {
      unsafe last.remember(storage.state[keyPath: place.path], storage.chain.number + 1)
    }
  }

  override func find<Part, PartAction>(
    _ key: ScopeKey, as type: Store<Part, PartAction>.Type
  ) -> Store<Part, PartAction>? {
    let scope = storage.withAccess { inner?.find(key, as: type) }
    return scope?.isActive == true ? scope : nil
  }

  override func scope<Step: PartStep, PartAction>(
    _ step: Step, _ key: ScopeKey, of store: Store<State, Action>,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Step.Part, PartAction>? where Step.Outer == State {
    let outer = self.embed
    return storage.scope(
      step, at: place, in: storage.withAccess { scopes }, as: key, of: store,
      lineage: store.lineage,
      last: { self.lastState }
    ) { outer(embed($0)) }
  }

  override func history(
    limit: Int, where isRemembered: @escaping @Sendable (Commit<State, Action>) -> Bool
  ) -> AnyHistoryHook {
    storage.history(of: HistoryPart(of: place, last: last), limit: limit, where: isRemembered)
  }

  override func observe<Member>(_ member: any KeyPath<State, Member> & Sendable) -> Member {
    let key = MemberKey(path: place.key(of: member), aspect: .value)
    let value = storage.observe(key, in: place.part) { [self] in place.read($0)?[keyPath: member] }
    guard let value = value ?? lastState?[keyPath: member] else { misplaced() }
    return value
  }

  override func observeRows<Row>(_ rows: any KeyPath<State, Rows<Row>> & Sendable) {
    let key = MemberKey(path: place.key(of: rows), aspect: .ids)
    _ = storage.observe(key, in: place.part) { [place] root in
      place.read(root)?[keyPath: rows].structureStamp
    }
  }

  override func isPresent<Part>(_ part: any KeyPath<State, Part?> & Sendable) -> Bool {
    let key = MemberKey(path: place.key(of: part), aspect: .presence)
    return storage.observe(key, in: place.part) { [place] root in
      place.read(root).map { $0[keyPath: part] != nil }
    } ?? false
  }

  override func subscribe(
    toState receive: @escaping @Sendable (State) -> Void
  ) -> Subscription {
    if let token = follows(self, receive) { return token }
    if let lastState { receive(lastState) }
    return .ended
  }

  override func subscribe(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription {
    let follower = follower { number, state in
      receive(.committed(Commit(number: number, cause: .whole, state: state)))
    }
    return storage.join(follower, in: place.entry) ?? .ended
  }

  override func follow(
    _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> Subscription {
    let follower = follower { number, state in
      receive(Commit(number: number, cause: .whole, state: state))
    }
    return storage.subscribe(follower, in: place.part) ?? .ended
  }

  /// Gives the part as it was after each commit, until it has gone.
  @inlinable
  func follower(
    _ receive: @escaping @Sendable (_ number: Int, State) -> Void
  ) -> PartFollower<Root, RootAction> {
    guard let last else {
      return PartFollower(fuse: nil) { [place] event in
        guard case .committed(let commit) = event else { return }
        _ = place.look(at: commit.state) { receive(commit.number, $0) }
      }
    }
    let fuse = Fuse()
    let isOver = SerialState(false)
    // It keeps the scope, as long as which the part is looked for.
    return PartFollower(fuse: fuse) { [self] event in
      guard case .committed(let commit) = event, !isOver.value else { return }
      guard let state = place.read(commit.state) else {
        isOver.value = true
        fuse.blow()
        return
      }
      last.remember(state, commit.number)
      receive(commit.number, state)
    }
  }

  /// Only a part that may go is not there.
  func misplaced() -> Never { fatalError("A part that is always there has gone.") }
}
