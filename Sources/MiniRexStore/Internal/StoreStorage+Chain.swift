public import MiniRex

// One action, or a chain of them, from the time at which a thread has the state until it lets go.
extension StoreStorage {
  /// Holds the store as long as it is inside: it could not end while its own reducer runs.
  @inlinable @inline(__always)
  func send(_ action: Action, to store: Store<State, Action>) -> EffectGroup? {
    let thread = ThreadID.current
    guard enter(on: thread) else { return queueInside(action) }
    let group = reduceOutside(action, on: thread)
    extendLifetime(store)
    return group
  }

  /// Has the state.
  @inlinable @inline(__always)
  func reduceOutside(_ action: Action, on thread: ThreadID) -> EffectGroup? {
    let effect = unsafe reducer(&state, action)
    if case .none = effect.kind, unsafe !chain.hasMore {
      return commit(.action(action), on: thread)
    }
    return finishChain(after: action, effect, on: thread)
  }

  /// Comes with anything but an action from outside.
  @inlinable
  func perform(_ input: StoreInput<Action>) {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if case .cancel(let group) = input { group.markCancelled() }
      return queue(input)
    }
    handle(input)
    handleQueued()
    _ = letGo(on: thread)
  }

  @inlinable @inline(never)
  func finishChain(
    after action: Action, _ effect: Effect<Action>, on thread: ThreadID
  ) -> EffectGroup? {
    tell(.action(action))
    follow(effect, nil)
    handleQueued()
    return letGo(on: thread)
  }

  @inlinable @inline(never)
  func queueInside(_ action: Action) -> EffectGroup? {
    let group = wantedGroup()
    queue(.action(action, by: nil, group))
    return group
  }

  /// An action of a part is dropped if that has gone when its turn has come.
  @usableFromInline
  func queue(_ action: Action, of part: PartEntry?, _ group: EffectGroup) {
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
      if effect?.isHeard ?? true { reduce(action, group) }
    case .turn(let effect, let action):
      let isWanted = effect.isWanted
      if isWanted { reduce(action, effect.group) }
      unsafe book.end(effect, isWanted ? .finished : .cancelled)
    case .part(let action, let part, let group):
      if part?.isGone != true { reduce(action, group) }
      unsafe book.leave(part)
    case .ended(let effect, let end):
      unsafe book.end(effect, end)
    case .cancel(let group):
      unsafe book.cancel(group)
    }
    goOnWithSequences()
  }

  @inlinable
  func reduce(_ action: Action, _ group: EffectGroup?) {
    unsafe self.group = group ?? outerGroup
    let effect = unsafe reducer(&state, action)
    tell(.action(action))
    follow(effect, group)
  }

  /// What an action returns is reduced next, unless its reducer has sent something before that.
  @inlinable
  func follow(_ effect: Effect<Action>, _ group: EffectGroup?) {
    var effect = effect
    while case .send(let action) = effect.kind {
      if unsafe chain.hasParts { endOrphansInChain() }
      if unsafe chain.hasMore { return queue(.action(action, by: nil, group)) }
      effect = unsafe reducer(&state, action)
      tell(.action(action))
    }
    if case .none = effect.kind {} else { enter(effect) }
    if unsafe chain.hasParts { endOrphansInChain() }
  }

  /// The group of the input that is handled.
  @inlinable
  func wantedGroup() -> EffectGroup {
    if let group = unsafe group { return group }
    let group = EffectGroup(link)
    group.enter()
    unsafe self.group = group
    unsafe outerGroup = group
    return group
  }

  /// Makes a chain readable and tells of it; then does what its effects have decided.
  @inlinable @inline(never)
  func letGo(on thread: ThreadID) -> EffectGroup? {
    unsafe group = nil
    let opened = unsafe outerGroup.take()
    if let opened { unsafe book.leave(opened) }
    let outcome = unsafe book.takeOutcome()
    let beginnings = unsafe self.beginnings.take()
    let remembering = unsafe chain.hasHistories ? settleHistories() : []
    leaveTelling(on: thread)
    for history in remembering { history.tell(on: thread) }
    outcome.happen()
    begin(beginnings, on: thread)
    return opened
  }
}
