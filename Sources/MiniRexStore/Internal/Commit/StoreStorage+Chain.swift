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
    let effect = unsafe reducer(&state, action)
    if case .none = effect.kind, unsafe !chain.hasQueued {
      return commit(.action(action), on: thread)
    }
    return finishChain(after: action, effect, on: thread)
  }

  /// Handles any input except an action from outside.
  @inlinable
  func perform(_ input: StoreInput<Action>) {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if unsafe isReading, case .action = input { refuse("send") }
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
    if unsafe isReading { refuse("send") }
    let group = wantedGroup()
    queue(.action(action, by: nil, group))
    return StoreTask(group, number: 0)
  }

  /// Queues an action of a child.
  ///
  /// It is dropped if the child is removed before it is reduced.
  @usableFromInline
  func queue(_ action: Action, of part: Presence?, _ group: EffectGroup) {
    guard let part else { return queue(.action(action, by: nil, group)) }
    part.use()
    queue(.part(action, part, group))
  }

  @inlinable
  func queue(_ input: StoreInput<Action>) {
    unsafe chain.queue()
    unsafe inputs.append(input)
  }

  @inlinable
  func handleQueued() {
    while unsafe chain.takeNext() {
      if let input = unsafe inputs.popFirst() { handle(input) }
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
      unsafe book.end(effect, isPending ? .finished : .cancelled)
    case .part(let action, let part, let group):
      if part?.isGone != true, accepts(group) { reduce(action, group) }
      unsafe book.leave(part)
    case .ended(let effect, let end):
      unsafe book.end(effect, end)
    case .cancel(let group):
      unsafe book.cancel(group)
    }
    continueSequences()
  }

  /// - Returns: `false` if the action's task was canceled while the action was queued.
  @inlinable
  func accepts(_ group: EffectGroup?) -> Bool {
    unsafe (group ?? outerGroup)?.acceptsAction() ?? true
  }

  @inlinable
  func reduce(_ action: Action, _ group: EffectGroup?, by sender: RunningEffect? = nil) {
    unsafe self.group = group ?? outerGroup
    let effect = unsafe reducer(&state, action)
    publish(.action(action))
    if sender != nil { unsafe book.sender = sender }
    reduceReturned(effect, group)
    if sender != nil { unsafe book.sender = nil }
  }

  /// Reduces the action that a reducer returned, unless the reducer has sent another action before.
  @inlinable
  func reduceReturned(_ effect: Effect<Action>, _ group: EffectGroup?) {
    var effect = effect
    while let action = unsafe effect.action(in: state) {
      if unsafe chain.hasParts { cancelOrphansInChain() }
      if unsafe chain.hasQueued {
        guard case .send = effect.kind else { break }
        return queue(.action(action, by: nil, group))
      }
      effect = unsafe reducer(&state, action)
      publish(.action(action))
    }
    if case .none = effect.kind {} else { enter(effect) }
    if unsafe chain.hasParts { cancelOrphansInChain() }
  }

  /// The group of the current input, created on first use.
  @inlinable
  func wantedGroup() -> EffectGroup {
    if let group = unsafe group { return group }
    let group = EffectGroup(link)
    group.enter()
    unsafe self.group = group
    unsafe outerGroup = group
    return group
  }

  /// Makes the chain readable and publishes it, then stops, completes, and starts effects.
  @inlinable @inline(never)
  func releaseState(on thread: ThreadID) -> StoreTask {
    let number = unsafe chain.number
    unsafe group = nil
    let opened = unsafe outerGroup.take()
    if let opened { unsafe book.leave(opened) }
    let outcome = unsafe book.takeOutcome()
    let beginnings = unsafe self.beginnings.take()
    let remembering = unsafe chain.hasHistories ? settleHistories() : []
    leavePublishing(on: thread)
    for history in remembering { history.publish(on: thread) }
    outcome.happen()
    begin(beginnings, on: thread)
    return StoreTask(opened, number: number)
  }
}
