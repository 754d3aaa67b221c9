public import MiniRex

// Closures that read the state in the exclusive access of a `send`.
extension StoreStorage {
  @inlinable @inline(__always)
  func send<Value>(
    _ action: Action, to store: Store<State, Action>, reading read: (State) -> Value
  ) -> Receipt<Value> {
    let thread = ThreadID.current
    if !enter(on: thread) { refuseReading() }
    let receipt = reduceOutside(action, on: thread) { $0.withState(read) }
    extendLifetime(store)
    return receipt
  }

  @inlinable @inline(__always)
  func send<Refusal: Error>(
    to store: Store<State, Action>, deciding decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    defer { extendLifetime(store) }
    let (action, thread) = try enter { () throws(Refusal) in try withState(decide) }
    return reduceOutside(action, on: thread)
  }

  func send<Value, Refusal: Error>(
    to store: Store<State, Action>, deciding decide: (State) throws(Refusal) -> Action,
    reading read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value> {
    defer { extendLifetime(store) }
    let (action, thread) = try enter { () throws(Refusal) in try withState(decide) }
    return reduceOutside(action, on: thread) { $0.withState(read) }
  }

  /// Gets exclusive access, and keeps it unless `body` throws.
  ///
  /// - Parameter body: A closure that calls a closure of the caller, in which the store traps.
  @inlinable @inline(__always)
  func enter<Value, Refusal: Error>(
    reading body: () throws(Refusal) -> Value
  ) throws(Refusal) -> (Value, ThreadID) {
    let thread = ThreadID.current
    if !enter(on: thread) { refuseReading() }
    do throws(Refusal) {
      return (try reading(body), thread)
    } catch {
      leaveUnchanged(on: thread)
      throw error
    }
  }

  /// Reduces an action with exclusive access, and reads after the last commit of its chain.
  ///
  /// The predicate of a history can send actions, so its chain is longer than the reducer's.
  ///
  /// - Parameter read: A closure that does not capture the storage, which it would retain.
  @inlinable @inline(__always)
  func reduceOutside<Value>(
    _ action: Action, on thread: ThreadID, reading read: (StoreStorage) -> Value
  ) -> Receipt<Value> {
    let effect = reducer(&state, action)
    if case .none = effect.kind, !inside.chain.hasQueued, !inside.chain.duties.contains(.records) {
      let value = reading { read(self) }
      if !inside.chain.hasQueued { return Receipt(value, commit(.action(action), on: thread)) }
      // `read` released an object whose `deinit` canceled an effect, so the chain has work left.
      let number = inside.chain.number + 1
      let group = finishChain(after: action, effect, on: thread).group
      return Receipt(value, StoreTask(group, number: number))
    }
    return finishChain(after: action, effect, on: thread, reading: read)
  }

  @inlinable @inline(never)
  func finishChain<Value>(
    after action: Action, _ effect: Effect<Action>, on thread: ThreadID,
    reading read: (StoreStorage) -> Value
  ) -> Receipt<Value> {
    publish(.action(action))
    reduceReturned(effect, nil)
    handleQueued()
    let number = inside.chain.number
    let value = reading { read(self) }
    handleQueued()
    return Receipt(value, StoreTask(releaseState(on: thread).group, number: number))
  }

  /// Releases the state after an error, which commits nothing.
  @inlinable
  func leaveUnchanged(on thread: ThreadID) {
    if !inside.chain.hasQueued { return leave() }
    handleQueued()
    _ = releaseState(on: thread)
  }

  /// Calls `body` with the state, without a copy.
  @inlinable @inline(__always)
  func withState<Value, Failure: Error>(
    _ body: (State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try unsafe withUnsafePointer(to: &state) { (state) throws(Failure) in
      try unsafe body(state.pointee)
    }
  }

  /// Runs a closure of the caller, in which the store traps.
  @inlinable @inline(__always)
  func reading<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    inside.isReading = true
    defer { inside.isReading = false }
    return try body()
  }

  @usableFromInline
  func refuseReading() -> Never {
    if inside.isReading { refuse("send") }
    misuse(
      "\(subject) inside its own reducer or 'commit', by 'send(_:reading:)' or 'send { … }', where the "
        + "'inout' parameter is the state. Use it, or 'send(_:)', which queues the action.")
  }
}

/// A scope that remembers its removable child after each commit of a chain that it will read.
@usableFromInline
protocol ReadingScope: AnyObject, Sendable {
  func keepChild()
}
