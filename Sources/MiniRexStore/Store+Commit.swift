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
  /// inside `change` stops the program.
  ///
  /// - Parameters:
  ///   - name: What a log calls it.
  ///   - change: What is changed; nobody else reads the state meanwhile.
  @inlinable
  @discardableResult
  public func commit<Result, Failure: Error>(
    _ name: String? = nil, _ change: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let thread = ThreadID.current
    let isTold = storage.enterToWrite(on: thread)
    defer {
      if isTold { storage.tell(.change(name), on: thread) } else { storage.release(on: thread) }
    }
    return try unsafe change(&storage.state)
  }

  /// A member of the state: read as in any store, and written as a commit that is named after it.
  public subscript<Part>(dynamicMember part: any WritableKeyPath<State, Part> & Sendable) -> Part {
    get { storage.observe(part) }
    _modify {
      let thread = ThreadID.current
      let isTold = storage.enterToWrite(on: thread)
      defer {
        if isTold {
          storage.tell(.assignment(part), on: thread)
        } else {
          storage.release(on: thread)
        }
      }
      yield unsafe &storage.state[keyPath: part]
    }
  }
}

/// Written for every type of action: of `Never`, the compiler would say that it is not called.
private func withoutActions<State, Action>(_: inout State, _: Action) -> Effect<Action> { .none }
