public import MiniRex

// Scopes, and the removable children of the state.
extension StoreStorage: StoreHost {
  @usableFromInline
  var subscriberCount: Int { delivery.subscriberCount }

  @usableFromInline
  var pendingUpdates: Int { delivery.pendingUpdates }

  @usableFromInline
  func delivered() async { await delivery.delivered() }

  /// A Boolean value that indicates whether the bookkeeping of scopes is empty.
  @usableFromInline
  var hasForgottenScopes: Bool {
    let (isEmpty, released) = withAccess {
      let released = forgetAbandoned()
      guard let registry = inside.registry else { return (true, released) }
      return (registry.table.nodes.isEmpty && registry.scopes.isEmpty, released)
    }
    withExtendedLifetime(released) {}
    return isEmpty
  }

  /// The registry, created on first use.
  ///
  /// Needs exclusive access.
  @usableFromInline
  var madeRegistry: ScopeRegistry<State> {
    if let registry = inside.registry { return registry }
    let registry = ScopeRegistry<State>()
    inside.registry = registry
    return registry
  }

  /// Returns an existing scope.
  ///
  /// - Parameter cache: The cache of the enclosing scope, or `nil` for the root.
  @inlinable
  func find<Child, ChildAction>(
    _ key: ScopeKey, in cache: ScopeCache?, as type: Store<Child, ChildAction>.Type
  ) -> Store<Child, ChildAction>? {
    enterOutside(on: ThreadID.current, for: "scope")
    let scope = (cache ?? inside.registry?.scopes)?.find(key, as: type)
    leave()
    return scope?.isActive == true ? scope : nil
  }

  /// Returns an existing or a new scope, or `nil` if the child is missing.
  ///
  /// - Parameters:
  ///   - outer: The location of the enclosing child. `nil` for the root, like `cache`.
  ///   - last: Returns the last state of a removed enclosing child.
  @inlinable
  func scope<Step: ScopeStep, OuterAction, ChildAction>(
    _ step: Step, at outer: ChildPath<State, Step.Outer>?, in cache: ScopeCache?,
    as key: ScopeKey, of store: Store<Step.Outer, OuterAction>, lineage: Lineage?,
    last: () -> Step.Outer?, embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Step.Child, ChildAction>? {
    var released: [Any] = []
    defer { withExtendedLifetime(released) {} }
    return withAccess(for: "scope") {
      let registry = madeRegistry
      released = forgetAbandoned()
      let cache = cache ?? registry.scopes
      // Without a location, the outer state is the root.
      let outer =
        unsafe outer ?? unsafeDowncast(registry.root, to: ChildPath<State, Step.Outer>.self)
      if let scope = cache.find(key, as: Store<Step.Child, ChildAction>.self), scope.isActive {
        return scope
      }
      let isGone = outer.entry?.isGone == true
      if isGone, !step.isAlways { return nil }
      var child: Step.Child?
      if outer.entry != nil || !step.isAlways {
        child = (isGone ? last() : outer.read(state)).flatMap { step.read($0) }
        if child == nil { return nil }
      }
      let place = step.place(in: outer, registry.table)
      step.prepare(place, for: StoreStorage.self)
      inside.chain.duties.set(.checksChildren, !registry.table.nodes.isEmpty)
      let scope = Store<Step.Child, ChildAction>(
        Scope(of: self, at: place, child, in: cache, as: key, embed: embed),
        of: store, lineage: lineage.flatMap { .ofOperation("scope \(key)", on: $0) })
      cache.remember(scope, as: key)
      return scope
    }
  }

  /// Performs the cleanup, or defers it to the thread that has exclusive access.
  func abandon(_ thing: DeferredCleanup) {
    guard let registry = inside.registry else { return }
    registry.abandon(thing)
    cleanUp()
  }

  /// Performs the deferred cleanups, or lets the thread that has exclusive access perform them at its end.
  func cleanUp() {
    let thread = ThreadID.current
    var isNeeded = true
    // Other threads may concurrently defer any number of cleanups to this thread, so it does not recurse.
    while isNeeded {
      while access.enter(on: thread) != .reduce {
        let isTaken = delivery.lock.withLock { _ in
          guard access.wait() else { return false }
          underLock.needsCleanup = true
          return true
        }
        if isTaken { return }
      }
      let released = forgetAbandoned()
      isNeeded = access.leave() && wakeParked()
      withExtendedLifetime(released) {}
    }
  }

  /// Performs the deferred cleanups.
  ///
  /// - Returns: Objects to release after the state is released.
  @usableFromInline
  func forgetAbandoned() -> [Any] {
    let released = inside.registry?.forgetAbandoned() ?? []
    if !released.isEmpty, inside.chain.duties.contains(.records) { forgetHistories() }
    return released
  }

  /// Cancels the effects of children that the last commit removed.
  ///
  /// - Returns: `false` if there was nothing to do.
  @inlinable
  func cancelOrphans() -> Bool {
    guard let registry = inside.registry else { return false }
    let released = forgetAbandoned()
    var orphans: [RunningEffect] = []
    registry.table.check(state, inside.chain.number, &orphans)
    inside.chain.duties.set(.checksChildren, !registry.table.nodes.isEmpty)
    if orphans.isEmpty && released.isEmpty { return false }
    inside.effects.release(released)
    inside.effects.cancel(orphans)
    return true
  }

  /// Returns the child that owns effects, which each commit checks from now on.
  @usableFromInline
  func enterChild(_ step: any ScopeStep, in outer: (any AnyPlace)?) -> any AnyPlace {
    let registry = madeRegistry
    let place = step.place(inAny: outer ?? registry.root, registry.table)
    place.entry?.use()
    inside.chain.duties.set(.checksChildren, !registry.table.nodes.isEmpty)
    return place
  }

  /// Reduces an action of a child, unless the child was removed.
  func send(_ action: Action, in child: Presence?) -> StoreTask {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if inside.isReading { refuse("send") }
      let group = wantedGroup()
      queue(action, of: child, group)
      return StoreTask(group, number: 0)
    }
    if child?.isGone == true {
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
    _ follower: ScopeSubscriber<State, Action>, in child: PresenceIn<State>?
  ) -> Subscription? {
    joinWithCurrentState(in: child, follower.callback).map { follower.attach($0) }
  }

  /// Subscribes to later commits.
  ///
  /// Returns `nil` if the child was removed.
  @inlinable
  func join(_ follower: ScopeSubscriber<State, Action>, in child: Presence?) -> Subscription? {
    let subscription = withAccess(for: "subscribe") {
      child?.isGone == true ? nil : join(nil, follower.callback)
    }
    return subscription.map { follower.attach($0) }
  }

  /// Subscribes to the later events of a row or of the store.
  ///
  /// Needs exclusive access. Returns `nil` if the delivery has ended.
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
  func listeners(to child: PresenceIn<State>?) -> RowSubscribers<State, Action>? {
    var child = child
    while let some = child {
      if let listeners = some.listeners(in: self) { return listeners }
      child = some.outer
    }
    return nil
  }

  /// Skips commits up to the joined state, because a row can deliver them later.
  @inlinable
  func joining(
    _ row: RowSubscribers<State, Action>?, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Joining<Event> {
    inside.chain.duties.set(.publishes, true)
    guard let row else { return Joining(delivery, receive) }
    let joined = inside.chain.number
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
    subscription = Subscription(to: delivery)
  }
}
