import MiniRex

extension Scope {
  func sendReading<Value>(_ action: Action, _ read: (State) -> Value) -> Receipt<Value> {
    let action = embed(action)
    let thread = ThreadID.current
    if !storage.enter(on: thread) { storage.refuseReading() }
    return reduce(action, on: thread, reading: read)
  }

  func sendDeciding<Refusal: Error>(
    _ decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    let (action, thread) = try storage.enter { () throws(Refusal) in try readChild(decide) }
    if isActive { return storage.reduceOutside(embed(action), on: thread) }
    storage.leaveUnchanged(on: thread)
    return StoreTask(nil, number: 0)
  }

  func sendDeciding<Value, Refusal: Error>(
    _ decide: (State) throws(Refusal) -> Action, _ read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value> {
    let (action, thread) = try storage.enter { () throws(Refusal) in try readChild(decide) }
    return reduce(embed(action), on: thread, reading: read)
  }

  /// Reduces an action with exclusive access, and reads the child, or its last state if it was removed.
  private func reduce<Value>(
    _ action: RootAction, on thread: ThreadID, reading read: (State) -> Value
  ) -> Receipt<Value> {
    if !isActive {
      let value = storage.reading { readLast(read) }
      storage.leaveUnchanged(on: thread)
      return Receipt(value, StoreTask(nil, number: 0))
    }
    if last != nil { startKeeping() }
    return storage.reduceOutside(action, on: thread) { [self] _ in
      if last != nil { stopKeeping() }
      return readChild(read)
    }
  }

  /// Calls `body` with the child, or with its last state if it was removed.
  private func readChild<Value, Failure: Error>(
    _ body: (State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if isActive {
      let result = storage.withState { root in
        place.look(at: root) { child in
          Result { () throws(Failure) in try body(child) }
        }
      }
      if let result { return try result.get() }
    }
    return try readLast(body)
  }

  private func readLast<Value, Failure: Error>(
    _ body: (State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let state = last?.state else { misplaced() }
    return try body(state)
  }

  private func startKeeping() {
    storage.inside.readingScope = self
    storage.inside.chain.duties.set(.keepsChild, true)
    keepChild()
  }

  private func stopKeeping() {
    // The only commit of a chain has no number yet, so its state gets the next number. A later state
    // with an equal number replaces it.
    keepChild(storage.inside.chain.number + 1)
    storage.inside.readingScope = nil
    storage.inside.chain.duties.set(.keepsChild, false)
  }

  private func keepChild(_ number: Int) {
    guard let last, isActive, let child = place.read(storage.state) else { return }
    last.remember(child, number)
  }
}

extension Scope: ReadingScope {
  @usableFromInline
  func keepChild() { keepChild(storage.inside.chain.number) }
}
