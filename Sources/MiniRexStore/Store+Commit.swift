public import MiniRex

/// A store with the action type `Never` is changed in place.
extension Store where Action == Never {
  /// Creates a store without actions.
  ///
  /// - Parameters:
  ///   - state: The initial state.
  ///   - name: The name of the store in an instrument.
  ///   - instrument: The instrument that observes the store. Defaults to the current instrument.
  ///   - fileID: The file of the call, for the instrument.
  ///   - line: The line of the call, for the instrument.
  public convenience init(
    _ state: State, name: String? = nil, instrument: (any Instrument)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.init(
      state, name: name, instrument: instrument, fileID: fileID, line: line, reducer: withoutActions
    )
  }

  /// Changes the state in place, as one commit.
  ///
  /// ```swift
  /// plain.commit("forget") { $0 = Search() }
  /// ```
  ///
  /// If `change` throws, its changes up to that point are committed. Traps if `change` uses the
  /// store. In a scope, this is a commit of the parent. After the child was removed, `change`
  /// receives a copy of its last state, and nothing is committed.
  ///
  /// - Parameters:
  ///   - name: The name of the commit in a log.
  ///   - change: A closure that changes the state. It has exclusive access.
  @inlinable
  @discardableResult
  public func commit<Result, Failure: Error>(
    _ name: String? = nil, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let root else { return try commitInScope(name, change) }
    let thread = ThreadID.current
    let result = root.use { storage in
      storage.enterOutside(on: thread)
      defer { storage.commit(.change(name), on: thread) }
      return Swift.Result { () throws(Failure) in try change(&storage.state) }
    }
    extendLifetime(self)
    return try result.get()
  }

  @usableFromInline
  func commitInScope<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard case .scope(let scope) = backing else { misuse("A store is a root or a scope.") }
    defer { extendLifetime(self) }
    return try scope.commit(name, change)
  }

  /// Accesses a member of the state.
  ///
  /// Each write is a commit named after the member.
  ///
  /// In a scope, writing copies the member, and ``commit(_:_:)`` changes it in place.
  ///
  /// A mutating `async` method of the member compiles, but it keeps exclusive access while it is
  /// suspended. It traps if the suspended thread uses the store, or if the method finishes on
  /// another thread. Change a copy instead: `var counter = store.counter`, `await counter.bump()`,
  /// `store.counter = counter`.
  public subscript<Value>(dynamicMember path: any WritableKeyPath<State, Value> & Sendable) -> Value
  {
    get { observe(path) }
    _modify {
      switch backing {
      case .root(let storage):
        let thread = storage.openMember()
        defer {
          storage.closeMember(openedOn: thread)
          storage.commit(.assignment(path), on: thread)
          extendLifetime(self)
        }
        yield &storage.state[keyPath: path]
      case .scope(let scope):
        var (member, thread) = scope.open(path)
        defer {
          scope.close(path, member, openedOn: thread)
          extendLifetime(self)
        }
        yield &member
      }
    }
  }
}

/// Generic over the action, because the compiler warns that a closure of `Never` is never called.
private func withoutActions<State, Action>(_: inout State, _: Action) -> Effect<Action> { .none }
