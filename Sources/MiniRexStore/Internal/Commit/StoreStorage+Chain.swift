public import MiniRex

// One action or a chain of actions, from getting exclusive access to releasing the state.
extension StoreStorage {
  /// Retains the store until `send` returns, because a store cannot be released inside its own
  /// reducer.
  @inlinable @inline(__always)
  func send(_ action: Action, to store: Store<State, Action>) -> StoreTask {
    let thread = ThreadID.current
    guard enter(on: thread) else { return queueInside(action) }
    let task = reduceOutside(action, on: thread)
    extendLifetime(store)
    return task
  }

  /// Reduces an action with exclusive access.
  @inlinable @inline(__always)
  func reduceOutside(_ action: Action, on thread: ThreadID) -> StoreTask {
    let effect = reducer(&state, action)
    if case .none = effect.kind, !inside.chain.hasQueued {
      return commit(.action(action), on: thread)
    }
    return finishChain(after: action, effect, on: thread)
  }

  /// Handles any input except an action from outside.
  @inlinable
  func perform(_ input: StoreInput<Action>) {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if inside.isReading, case .action = input { refuse("send") }
      if case .cancel(let group) = input { group.markCancelled() }
      return queue(input)
    }
    handle(input)
    handleQueued()
    _ = releaseState(on: thread)
  }

  @inlinable @inline(never)
  func finishChain(
    after action: Action, _ effect: Effect<Action>, on thread: ThreadID
  ) -> StoreTask {
    publish(.action(action))
    reduceReturned(effect, nil)
    handleQueued()
    return releaseState(on: thread)
  }

  @inlinable @inline(never)
  func queueInside(_ action: Action) -> StoreTask {
    if inside.isReading { refuse("send") }
    let group = wantedGroup()
    queue(.action(action, by: nil, group))
    return StoreTask(group, number: 0)
  }

  /// Queues an action of a child.
  ///
  /// It is dropped if the child is removed before it is reduced.
  @usableFromInline
  func queue(_ action: Action, of child: Presence?, _ group: EffectGroup) {
    guard let child else { return queue(.action(action, by: nil, group)) }
    child.use()
    queue(.child(action, child, group))
  }

  @inlinable
  func queue(_ input: StoreInput<Action>) {
    inside.chain.queue()
    inside.inputs.append(input)
  }

  @inlinable
  func handleQueued() {
    while inside.chain.takeNext() {
      if let input = inside.inputs.popFirst() { handle(input) }
    }
  }

  @inlinable
  func handle(_ input: StoreInput<Action>) {
    switch input {
    case .action(let action, let effect, let group):
      if effect?.acceptsActions ?? true, accepts(group) { reduce(action, group, by: effect) }
    case .turn(let effect, let action):
      let isPending = effect.isPending
      if isPending { reduce(action, effect.group, by: effect) }
      inside.effects.end(effect, isPending ? .finished : .cancelled)
    case .child(let action, let child, let group):
      if child?.isGone != true, accepts(group) { reduce(action, group) }
      inside.effects.leave(child)
    case .ended(let effect, let end):
      inside.effects.end(effect, end)
    case .cancel(let group):
      inside.effects.cancel(group)
    }
    continueSequences()
  }

  /// Returns `false` if the task of a queued action was canceled.
  @inlinable
  func accepts(_ group: EffectGroup?) -> Bool {
    (group ?? inside.outerGroup)?.acceptsAction() ?? true
  }

  @inlinable
  func reduce(_ action: Action, _ group: EffectGroup?, by sender: RunningEffect? = nil) {
    inside.group = group ?? inside.outerGroup
    let effect = reducer(&state, action)
    publish(.action(action))
    if sender != nil { inside.effects.sender = sender }
    reduceReturned(effect, group)
    if sender != nil { inside.effects.sender = nil }
  }

  /// Reduces the action that a reducer returned, unless the reducer has sent another action before.
  @inlinable
  func reduceReturned(_ effect: Effect<Action>, _ group: EffectGroup?) {
    var effect = effect
    while let action = effect.action(in: state) {
      if inside.chain.duties.contains(.checksChildren) { cancelOrphansInChain() }
      if inside.chain.hasQueued {
        guard case .send = effect.kind else { break }
        return queue(.action(action, by: nil, group))
      }
      effect = reducer(&state, action)
      publish(.action(action))
    }
    if case .none = effect.kind {} else { enter(effect) }
    if inside.chain.duties.contains(.checksChildren) { cancelOrphansInChain() }
  }

  /// The group of the current input, created on first use.
  @inlinable
  func wantedGroup() -> EffectGroup {
    if let group = inside.group { return group }
    let group = EffectGroup(weakStore)
    group.enter()
    inside.group = group
    inside.outerGroup = group
    return group
  }

  /// Makes the chain readable and publishes it, then stops, completes, and starts effects.
  @inlinable @inline(never)
  func releaseState(on thread: ThreadID) -> StoreTask {
    let number = inside.chain.number
    inside.group = nil
    let opened = inside.outerGroup.take()
    if let opened { inside.effects.leave(opened) }
    let outcome = inside.effects.takeOutcome()
    let beginnings = inside.beginnings.take()
    let remembering = inside.chain.duties.contains(.records) ? settleHistories() : []
    leavePublishing(on: thread)
    for history in remembering { history.publish(on: thread) }
    outcome.happen()
    begin(beginnings, on: thread)
    return StoreTask(opened, number: number)
  }
}
