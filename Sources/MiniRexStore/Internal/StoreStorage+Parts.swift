public import MiniRex

// Parts that may go. All of it is done with exclusive access.
extension StoreStorage: StoreHost {
  @usableFromInline
  var subscriberCount: Int { delivery.subscriberCount }

  @usableFromInline
  var pendingUpdates: Int { delivery.pendingUpdates }

  /// True if nothing is remembered of scopes and parts that may go.
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

  /// With exclusive access: made when it is asked for first.
  @usableFromInline
  var madeParts: StoreParts<State> {
    if let parts = unsafe parts { return parts }
    let parts = StoreParts<State>()
    unsafe self.parts = parts
    return parts
  }

  /// The scope that there is.
  ///
  /// - Parameter cache: That of the part that it is in; `nil` for the whole.
  @inlinable
  func find<Part, PartAction>(
    _ key: ScopeKey, in cache: ScopeCache?, as type: Store<Part, PartAction>.Type
  ) -> Store<Part, PartAction>? {
    enterOutside(on: ThreadID.current)
    let scope = unsafe (cache ?? parts?.scopes)?.find(key, as: type)
    leave()
    return scope?.isActive == true ? scope : nil
  }

  /// The scope that there is, or a new one; `nil` if there is nothing to look at.
  ///
  /// - Parameters:
  ///   - outer: Where it is looked for; `nil` for the whole, as is `cache`.
  ///   - last: What `outer` was, if it has gone.
  @inlinable
  func scope<Step: PartStep, OuterAction, PartAction>(
    _ step: Step, at outer: PartPlace<State, Step.Outer>?, in cache: ScopeCache?,
    as key: ScopeKey, of store: Store<Step.Outer, OuterAction>, lineage: Lineage?,
    last: () -> Step.Outer?, embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Step.Part, PartAction>? {
    var released: [Any] = []
    defer { withExtendedLifetime(released) {} }
    return withAccess {
      let parts = madeParts
      released = forgetAbandoned()
      let cache = cache ?? parts.scopes
      // Who has no place has the whole.
      let outer = unsafe outer ?? unsafeDowncast(parts.whole, to: PartPlace<State, Step.Outer>.self)
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
        ScopedPart(of: self, at: place, part, in: cache, as: key, embed: embed),
        of: store, lineage: lineage.flatMap { .ofOperation("scope \(key)", on: $0) })
      cache.remember(scope, as: key)
      return scope
    }
  }

  /// Whoever comes next with the state forgets it; this thread, if nobody has the state.
  func abandon(_ thing: Abandoned) {
    guard let parts = unsafe parts else { return }
    parts.abandon(thing)
    guard gate.enter(on: ThreadID.current) == .reduce else { return }
    let released = forgetAbandoned()
    leave()
    withExtendedLifetime(released) {}
  }

  /// - Returns: What is to be released when the state is let go.
  @usableFromInline
  func forgetAbandoned() -> [Any] {
    let released = unsafe parts?.forgetAbandoned() ?? []
    if !released.isEmpty, unsafe chain.hasHistories { forgetHistories() }
    return released
  }

  /// Looks for what the last commit has removed; the effects of that have ended.
  ///
  /// - Returns: False if there was nothing to do.
  @inlinable
  func endOrphans() -> Bool {
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

  /// The part that effects belong to, which is looked for from now on.
  @usableFromInline
  func enterPart(_ step: any PartStep, in outer: AnyPlace?) -> AnyPlace {
    let parts = madeParts
    let place = step.place(inAny: outer ?? parts.whole, parts.table)
    place.entry?.use()
    unsafe chain.hasParts = !parts.table.nodes.isEmpty
    return place
  }

  /// Reduces an action of a part, unless that has gone.
  func send(_ action: Action, in part: PartEntry?) -> EffectGroup? {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      let group = wantedGroup()
      queue(action, of: part, group)
      return group
    }
    if part?.isGone == true {
      leave()
      return nil
    }
    return reduceOutside(action, on: thread)
  }

  /// Subscribes, and calls with the part as it is now; `nil` if that has gone.
  @inlinable
  func subscribe(
    _ follower: PartFollower<State, Action>, in part: PartOfRoot<State>?
  ) -> Subscription? {
    let thread = ThreadID.current
    let joined: (Joining<Event>, Event, FirstCall)? = withAccess {
      if part?.isGone == true { return nil }
      let joining = joining(listeners(to: part), follower.callback)
      let first = unsafe Event.committed(
        Commit(number: chain.number, cause: .whole, state: state))
      let call = joining.delivery.lock.withLock {
        joining.delivery.join(joining.token, joining.callback, first: first, from: thread, &$0)
      }
      return (joining, first, call)
    }
    guard let (joining, first, call) = joined else { return nil }
    let hasCalled = joining.delivery.makeFirstCall(call, joining.callback, first)
    return hasCalled ? follower.attach(joining.token) : .ended
  }

  /// Subscribes to all that is committed from now on; `nil` if the part has gone.
  @inlinable
  func join(_ follower: PartFollower<State, Action>, in part: PartEntry?) -> Subscription? {
    let token = withAccess { part?.isGone == true ? nil : join(nil, follower.callback) }
    return token.map { follower.attach($0) }
  }

  /// With exclusive access.
  ///
  /// - Parameter row: Those who are told, if it is not everybody.
  @usableFromInline
  func join(
    _ row: RowListeners<State, Action>?, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Subscription? {
    let joining = joining(row, receive)
    let hasJoined = joining.delivery.lock.withLock {
      joining.delivery.join(joining.token, joining.callback, &$0)
    }
    return hasJoined ? joining.token : nil
  }

  /// For what is released on whichever thread, also on one that has access already.
  @usableFromInline
  func withAccessAnyhow<Result>(_ body: () -> Result) -> Result {
    let enters = enter(on: ThreadID.current)
    defer { if enters { leave() } }
    return body()
  }

  /// Those who listen to the row that the part is in; `nil` if it is in none.
  @usableFromInline
  func listeners(to part: PartOfRoot<State>?) -> RowListeners<State, Action>? {
    var part = part
    while let some = part {
      if let listeners = some.listeners(in: self) { return listeners }
      part = some.outer
    }
    return nil
  }

  /// What has been told with the state already is left out: the row may hear of it later.
  @inlinable
  func joining(
    _ row: RowListeners<State, Action>?, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Joining<Event> {
    unsafe chain.isTold = true
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

/// Whoever is about to join a delivery.
@usableFromInline
struct Joining<Event: Sendable>: Sendable {
  @usableFromInline let delivery: Delivery<Event>
  @usableFromInline let token: Subscription
  @usableFromInline let callback: @Sendable (Event) -> Void

  @inlinable
  init(_ delivery: Delivery<Event>, _ callback: @escaping @Sendable (Event) -> Void) {
    self.delivery = delivery
    self.callback = callback
    token = Subscription(delivery, place: Subscription.nowhere)
  }
}
