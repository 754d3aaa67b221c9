public import MiniRex

// Removable children. All of it needs exclusive access.
extension StoreStorage: StoreHost {
  @usableFromInline
  var subscriberCount: Int { delivery.subscriberCount }

  @usableFromInline
  var pendingUpdates: Int { delivery.pendingUpdates }

  /// A Boolean value that indicates whether the bookkeeping of scopes is empty.
  @usableFromInline
  var hasForgottenParts: Bool {
    let (isEmpty, released) = withAccess {
      let released = forgetAbandoned()
      guard let parts = unsafe parts else { return (true, released) }
      return (parts.table.nodes.isEmpty && parts.scopes.isEmpty, released)
    }
    withExtendedLifetime(released) {}
    return isEmpty
  }

  /// The registry, created on first use.
  ///
  /// Needs exclusive access.
  @usableFromInline
  var madeParts: ScopeRegistry<State> {
    if let parts = unsafe parts { return parts }
    let parts = ScopeRegistry<State>()
    unsafe self.parts = parts
    return parts
  }

  /// Returns an existing scope.
  ///
  /// - Parameter cache: The cache of the enclosing scope, or `nil` for the root.
  @inlinable
  func find<Part, PartAction>(
    _ key: ScopeKey, in cache: ScopeCache?, as type: Store<Part, PartAction>.Type
  ) -> Store<Part, PartAction>? {
    enterOutside(on: ThreadID.current, for: "scope")
    let scope = unsafe (cache ?? parts?.scopes)?.find(key, as: type)
    leave()
    return scope?.isActive == true ? scope : nil
  }

  /// Returns an existing or a new scope, or `nil` if the child is missing.
  ///
  /// - Parameters:
  ///   - outer: The location of the enclosing child. `nil` for the root, like `cache`.
  ///   - last: Returns the last state of a removed enclosing child.
  @inlinable
  func scope<Step: ScopeStep, OuterAction, PartAction>(
    _ step: Step, at outer: ChildPath<State, Step.Outer>?, in cache: ScopeCache?,
    as key: ScopeKey, of store: Store<Step.Outer, OuterAction>, lineage: Lineage?,
    last: () -> Step.Outer?, embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Step.Part, PartAction>? {
    var released: [Any] = []
    defer { withExtendedLifetime(released) {} }
    return withAccess(for: "scope") {
      let parts = madeParts
      released = forgetAbandoned()
      let cache = cache ?? parts.scopes
      // Without a location, the outer state is the root.
      let outer = unsafe outer ?? unsafeDowncast(parts.whole, to: ChildPath<State, Step.Outer>.self)
      if let scope = cache.find(key, as: Store<Step.Part, PartAction>.self), scope.isActive {
        return scope
      }
      let isGone = outer.entry?.isGone == true
      if isGone, !step.isAlways { return nil }
      var part: Step.Part?
      if outer.entry != nil || !step.isAlways {
        part = (isGone ? last() : unsafe outer.read(state)).flatMap { step.read($0) }
        if part == nil { return nil }
      }
      let place = step.place(in: outer, parts.table)
      step.prepare(place, for: StoreStorage.self)
      unsafe chain.hasParts = !parts.table.nodes.isEmpty
      let scope = Store<Step.Part, PartAction>(
        Scope(of: self, at: place, part, in: cache, as: key, embed: embed),
        of: store, lineage: lineage.flatMap { .ofOperation("scope \(key)", on: $0) })
      cache.remember(scope, as: key)
      return scope
    }
  }

  /// Defers the cleanup to the next thread with exclusive access, or performs it if the state is
  /// free.
  func abandon(_ thing: DeferredCleanup) {
    guard let parts = unsafe parts else { return }
    parts.abandon(thing)
    guard gate.enter(on: ThreadID.current) == .reduce else { return }
    let released = forgetAbandoned()
    leave()
    withExtendedLifetime(released) {}
  }

  /// - Returns: Objects to release after the state is released.
  @usableFromInline
  func forgetAbandoned() -> [Any] {
    let released = unsafe parts?.forgetAbandoned() ?? []
    if !released.isEmpty, unsafe chain.hasHistories { forgetHistories() }
    return released
  }

  /// Cancels the effects of children that the last commit removed.
  ///
  /// - Returns: `false` if there was nothing to do.
  @inlinable
  func cancelOrphans() -> Bool {
    guard let parts = unsafe parts else { return false }
    let released = forgetAbandoned()
    var orphans: [RunningEffect] = []
    unsafe parts.table.check(state, chain.number, &orphans)
    unsafe chain.hasParts = !parts.table.nodes.isEmpty
    if orphans.isEmpty && released.isEmpty { return false }
    unsafe book.release(released)
    unsafe book.cancel(orphans)
    return true
  }

  /// Returns the child that owns effects, which each commit checks from now on.
  @usableFromInline
  func enterPart(_ step: any ScopeStep, in outer: AnyPlace?) -> AnyPlace {
    let parts = madeParts
    let place = step.place(inAny: outer ?? parts.whole, parts.table)
    place.entry?.use()
    unsafe chain.hasParts = !parts.table.nodes.isEmpty
    return place
  }

  /// Reduces an action of a child, unless the child was removed.
  func send(_ action: Action, in part: Presence?) -> StoreTask {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if unsafe isReading { refuse("send") }
      let group = wantedGroup()
      queue(action, of: part, group)
      return StoreTask(group, number: 0)
    }
    if part?.isGone == true {
      leave()
      return StoreTask(nil, number: 0)
    }
    return reduceOutside(action, on: thread)
  }

  /// Subscribes with the current child as the first event.
  ///
  /// Returns `nil` if the child was removed.
  @inlinable
  func subscribe(
    _ follower: ScopeSubscriber<State, Action>, in part: PresenceIn<State>?
  ) -> Subscription? {
    joinWithCurrentState(in: part, follower.callback).map { follower.attach($0) }
  }

  /// Subscribes to later commits.
  ///
  /// Returns `nil` if the child was removed.
  @inlinable
  func join(_ follower: ScopeSubscriber<State, Action>, in part: Presence?) -> Subscription? {
    let subscription = withAccess(for: "subscribe") {
      part?.isGone == true ? nil : join(nil, follower.callback)
    }
    return subscription.map { follower.attach($0) }
  }

  /// Needs exclusive access.
  ///
  /// - Parameter row: The row to subscribe to, or `nil` for the entire store.
  @usableFromInline
  func join(
    _ row: RowSubscribers<State, Action>?, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Subscription? {
    let joining = joining(row, receive)
    let hasJoined = joining.delivery.lock.withLock {
      joining.delivery.join(joining.subscription, joining.callback, &$0)
    }
    return hasJoined ? joining.subscription : nil
  }

  /// Runs `body` with exclusive access, which the thread may already have, because objects are
  /// released on any thread.
  @usableFromInline
  func withAccessAnyhow<Result>(_ body: () -> Result) -> Result {
    let enters = enter(on: ThreadID.current)
    defer { if enters { leave() } }
    return body()
  }

  /// The subscribers of the innermost row that contains the child, or `nil` without a row.
  @usableFromInline
  func listeners(to part: PresenceIn<State>?) -> RowSubscribers<State, Action>? {
    var part = part
    while let some = part {
      if let listeners = some.listeners(in: self) { return listeners }
      part = some.outer
    }
    return nil
  }

  /// Skips commits up to the joined state, because a row can deliver them later.
  @inlinable
  func joining(
    _ row: RowSubscribers<State, Action>?, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Joining<Event> {
    unsafe chain.hasSubscribers = true
    guard let row else { return Joining(delivery, receive) }
    let joined = unsafe chain.number
    let isFirst = SerialState(true)
    return Joining(row.delivery) { event in
      withExtendedLifetime(row) {
        if let commit = event.commit, commit.number <= joined {
          if !isFirst.value || commit.number < joined { return }
        }
        isFirst.value = false
        receive(event)
      }
    }
  }
}

/// A subscriber that joins a delivery.
@usableFromInline
struct Joining<Event: Sendable>: Sendable {
  @usableFromInline let delivery: Delivery<Event>
  @usableFromInline let subscription: Subscription
  @usableFromInline let callback: @Sendable (Event) -> Void

  @inlinable
  init(_ delivery: Delivery<Event>, _ callback: @escaping @Sendable (Event) -> Void) {
    self.delivery = delivery
    self.callback = callback
    subscription = Subscription(delivery, place: Subscription.nowhere)
  }
}
