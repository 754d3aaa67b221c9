public import MiniRex

/// A store without actions is changed in place.
extension Store where Action == Never {
  /// Makes a store of its first state.
  ///
  /// - Parameters:
  ///   - state: The first state.
  ///   - name: What an instrument calls it.
  ///   - instrument: Who watches it; `nil` for the one in force.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
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
  /// A body that throws has changed what it has changed, and that is committed. Using the store
  /// inside `change` stops the program. A commit of a scope is one of the whole; if the part has gone,
  /// `change` gets a copy of what it was last, and nothing is committed.
  ///
  /// - Parameters:
  ///   - name: What a log calls it.
  ///   - change: What is changed; nobody else reads the state meanwhile.
  @inlinable
  @discardableResult
  public func commit<Result, Failure: Error>(
    _ name: String? = nil, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let root else { return try commitPart(name, change) }
    let thread = ThreadID.current
    let result = root.use { storage in
      storage.enterOutside(on: thread)
      defer { storage.commit(.change(name), on: thread) }
      return Swift.Result { () throws(Failure) in try unsafe change(&storage.state) }
    }
    extendLifetime(self)
    return try result.get()
  }

  @usableFromInline
  func commitPart<Result, Failure: Error>(
    _ name: String?, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard case .part(let part) = backing else { misuse("A store is a root or a part.") }
    defer { extendLifetime(self) }
    return try part.commit(name, change)
  }

  /// A member of the state: read as in any store, and written as a commit that is named after it.
  ///
  /// Written in a scope, the member is copied; ``commit(_:_:)`` changes it in place.
  public subscript<Part>(dynamicMember part: any WritableKeyPath<State, Part> & Sendable) -> Part {
    get { observe(part) }
    _modify {
      switch backing {
      case .root(let storage):
        let thread = ThreadID.current
        storage.enterOutside(on: thread)
        defer {
          storage.commit(.assignment(part), on: thread)
          extendLifetime(self)
        }
        yield unsafe &storage.state[keyPath: part]
      case .part(let scope):
        var (member, isThere) = scope.open(part)
        defer {
          scope.close(part, member, isThere: isThere)
          extendLifetime(self)
        }
        yield &member
      }
    }
  }
}

/// Written for every type of action: of `Never`, the compiler would say that it is not called.
private func withoutActions<State, Action>(_: inout State, _: Action) -> Effect<Action> { .none }
