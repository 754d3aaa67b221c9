public import MiniRex

extension Store {
  /// Reduces an action, and returns a value of its own commit.
  ///
  /// ```swift
  /// let receipt = store.send(.add(1)) { $0.count }
  /// ```
  ///
  /// No commit of another thread comes between the action and the value, so a request handler
  /// answers with the state that its own action made. If the reducer sends or returns further
  /// actions, `read` gets the state after the last of them. It runs before the commits are delivered
  /// and before the effects start. The state is borrowed, not copied.
  ///
  /// A scope reads its child. If the actions remove the child, `read` gets its last state. For this,
  /// a scope over a removable child retains the child, so changing it copies its storage. After the
  /// child was removed, nothing is committed, and `read` gets the last state that the scope has seen.
  ///
  /// Traps inside the store's own reducer. A callback may call it.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - read: A closure that reads the state, with exclusive access. Traps if it uses the store.
  @inlinable
  public func send<Value>(_ action: Action, reading read: (State) -> Value) -> Receipt<Value> {
    guard let root else { return sendToBacking(action, reading: read) }
    return root.use { $0.send(action, to: self, reading: read) }
  }

  /// Chooses an action by the current state, and reduces it.
  ///
  /// ```swift
  /// try store.send { state throws(Refusal) in
  ///   guard state.free.contains(seat) else { throw .taken }
  ///   return .reserved(seat, by: user)
  /// }
  /// ```
  ///
  /// No commit comes between the decision and its action. An error commits nothing and is the typed
  /// answer to a refused request. Subscribers and journals receive the action only, so `decide` may
  /// read a clock or a random number, unlike a reducer.
  ///
  /// A scope decides by its child. After the child was removed, `decide` gets the last state that the
  /// scope has seen, and its action is dropped. Traps inside the store's own reducer.
  ///
  /// - Parameter decide: A closure that returns the action, with exclusive access. Traps if it uses the
  ///   store.
  /// - Returns: A task that represents the effects of the action.
  @inlinable
  @discardableResult
  public func send<Refusal: Error>(
    _ decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    guard let root else { return try sendToBacking(deciding: decide) }
    let result = root.use { storage in
      Swift.Result { () throws(Refusal) in try storage.send(to: self, deciding: decide) }
    }
    return try result.get()
  }

  /// Chooses an action by the current state, reduces it, and returns a value of that commit.
  ///
  /// See both public forms of `send` with a closure.
  package func send<Value, Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action, reading read: (State) -> Value
  ) throws(Refusal) -> Receipt<Value> {
    defer { extendLifetime(self) }
    return switch backing {
    case .root(let storage): try storage.send(to: self, deciding: decide, reading: read)
    case .scope(let scope): try scope.send(deciding: decide, reading: read)
    }
  }

  @usableFromInline
  func sendToBacking<Value>(_ action: Action, reading read: (State) -> Value) -> Receipt<Value> {
    defer { extendLifetime(self) }
    return switch backing {
    case .root(let storage): storage.send(action, to: self, reading: read)
    case .scope(let scope): scope.send(action, reading: read)
    }
  }

  @usableFromInline
  func sendToBacking<Refusal: Error>(
    deciding decide: (State) throws(Refusal) -> Action
  ) throws(Refusal) -> StoreTask {
    defer { extendLifetime(self) }
    return switch backing {
    case .root(let storage): try storage.send(to: self, deciding: decide)
    case .scope(let scope): try scope.send(deciding: decide)
    }
  }
}
