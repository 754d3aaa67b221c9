import MiniRex

extension Scope {
  func sendReading<Value>(_ action: Action, _ read: (State) -> Value) -> Receipt<Value> {
    let action = embed(action)
    let thread = ThreadID.current
    if !storage.enter(on: thread) { storage.refuseReading() }
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

  func sendDeciding<Refusal: Error>(
    _ decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    let thread = ThreadID.current
    if !storage.enter(on: thread) { storage.refuseReading() }
    let action: Action
    do throws(Refusal) {
      action = try storage.reading { () throws(Refusal) in try readChild(decide) }
    } catch {
      storage.leaveUnchanged(on: thread)
      throw error
    }
    if isActive { return storage.reduceOutside(embed(action), on: thread) }
    storage.leaveUnchanged(on: thread)
    return StoreTask(nil, number: 0)
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
