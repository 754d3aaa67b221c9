extension Store {
  /// A part of the state as a store of its own.
  ///
  /// ```swift
  /// let form: Store<Form, FormAction> = store.scope(\.form) { .form($0) }
  /// form.send(.cleared)  // as `store.send(.form(.cleared))`
  /// ```
  ///
  /// It is a view: what is sent to it is an action of the whole, its commits have the whole's numbers, and
  /// it keeps the whole alive. The same part is the same object while somebody holds it; the first
  /// `embed` counts, so two ways of embedding one part need two types of action.
  ///
  /// - Parameters:
  ///   - part: A part that is always there.
  ///   - embed: Makes an action of the part one of the whole.
  @inlinable
  public func scope<Part: Sendable, PartAction: Sendable>(
    _ part: any WritableKeyPath<State, Part> & Sendable,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Part, PartAction> {
    let scope = find(PathStep(path: part), part, embed)
    guard let scope else { fatalError("A part that is always there has gone.") }
    return scope
  }

  /// An optional part of the state as a store of its own; `nil` while the part is.
  ///
  /// ```swift
  /// let sheet: Store<Form, FormAction>? = store.scope(ifPresent: \.sheet) { .sheet($0) }
  /// ```
  ///
  /// When the part is `nil` after a commit, it has gone: ``isActive`` is false, `send` and `commit` do
  /// nothing, subscriptions end, and effects that ``Effect/reduce(_:ifPresent:_:by:_:)`` has returned for
  /// it are cancelled. It never comes back; what is there later is another part. Whether there is
  /// one is observed, as a member is that is read. Otherwise it is like ``scope(_:_:)``.
  ///
  /// - Parameters:
  ///   - part: A part that may be `nil`.
  ///   - embed: Makes an action of the part one of the whole.
  @inlinable
  public func scope<Part: Sendable, PartAction: Sendable>(
    ifPresent part: any WritableKeyPath<State, Part?> & Sendable,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Part, PartAction>? {
    observePresence(of: part)
    return find(OptionalStep(path: part), part, embed)
  }

  /// The row with the id as a store of its own; `nil` if there is none.
  ///
  /// ```swift
  /// let item: Store<Item, FormAction>? = store.scope(row: "a", in: \.items) { .item($0, $1) }
  /// ```
  ///
  /// A row that is not there after a commit has gone, as an optional part that is `nil`. A row with the
  /// same id that comes later is another one. Subscribers of rows are called for commits that have
  /// changed their row, and it costs nothing that there are others.
  ///
  /// - Parameters:
  ///   - id: The id of the row.
  ///   - rows: The rows.
  ///   - embed: Makes an action of the row, whose id it gets, one of the whole.
  @inlinable
  public func scope<Row, RowAction: Sendable>(
    row id: Row.ID, in rows: any WritableKeyPath<State, Rows<Row>> & Sendable,
    _ embed: @escaping @Sendable (Row.ID, RowAction) -> Action
  ) -> Store<Row, RowAction>? {
    find(RowStep(path: rows, id: id), rows, id: AnyHashable(id)) { embed(id, $0) }
  }

  /// All rows as stores of their own, in their order.
  ///
  /// Which rows there are is observed, and not what is in them. They are all made, so it is O(n); where
  /// only some are looked at, ask for ``ids(in:)`` and then for these.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - embed: Makes an action of a row, whose id it gets, one of the whole.
  @inlinable
  public func scope<Row, RowAction: Sendable>(
    rows: any WritableKeyPath<State, Rows<Row>> & Sendable,
    _ embed: @escaping @Sendable (Row.ID, RowAction) -> Action
  ) -> [Store<Row, RowAction>] {
    ids(in: rows).compactMap { scope(row: $0, in: rows, embed) }
  }

  /// The ids of the rows there are, in their order.
  ///
  /// Which rows there are is observed, and not what is in them.
  public func ids<Row>(in rows: any KeyPath<State, Rows<Row>> & Sendable) -> [Row.ID] {
    switch backing {
    case .root(let storage):
      let key = MemberKey(path: rows, aspect: .ids)
      _ = storage.observe(key, in: nil) { $0[keyPath: rows].structureStamp }
    case .part(let part): part.observeRows(rows)
    }
    return state[keyPath: rows].ids
  }

  /// What is observed comes before what is found: so no change between the two is missed.
  @usableFromInline
  func observePresence<Part>(of part: any KeyPath<State, Part?> & Sendable) {
    switch backing {
    case .root(let storage):
      let key = MemberKey(path: part, aspect: .presence)
      _ = storage.observe(key, in: nil) { $0[keyPath: part] != nil }
    case .part(let scope): _ = scope.isPresent(part)
    }
  }

  /// Making one is left to the caller's side, so that what it does at each commit knows the types.
  @inlinable
  func find<Step: PartStep, PartAction>(
    _ step: Step, _ path: AnyKeyPath, id: AnyHashable? = nil,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Store<Step.Part, PartAction>? where Step.Outer == State {
    let key = ScopeKey(path: path, action: ObjectIdentifier(PartAction.self), id: id)
    switch backing {
    case .root(let storage):
      defer { extendLifetime(self) }
      if let scope = storage.find(key, in: nil, as: Store<Step.Part, PartAction>.self) {
        return scope
      }
      return storage.scope(
        step, at: nil, in: nil, as: key, of: self, lineage: lineage, last: { nil }, embed: embed)
    case .part(let part):
      if let scope = part.find(key, as: Store<Step.Part, PartAction>.self) { return scope }
      return part.scope(step, key, of: self, embed)
    }
  }
}

extension Store where Action == Never {
  /// A part of the state as a store of its own, which is changed in place.
  ///
  /// Its commits are commits of the whole. Otherwise it is like the scope of a store with actions.
  ///
  /// - Parameter part: A part that is always there.
  @inlinable
  public func scope<Part: Sendable>(
    _ part: any WritableKeyPath<State, Part> & Sendable
  ) -> Store<Part, Never> {
    scope(part, itself)
  }

  /// An optional part of the state as a store of its own, which is changed in place; `nil` while the part
  /// is.
  ///
  /// When the part is `nil` after a commit, it has gone, and so has the scope.
  ///
  /// - Parameter part: A part that may be `nil`.
  @inlinable
  public func scope<Part: Sendable>(
    ifPresent part: any WritableKeyPath<State, Part?> & Sendable
  ) -> Store<Part, Never>? {
    scope(ifPresent: part, itself)
  }

  /// The row with the id as a store of its own, which is changed in place; `nil` if there is none.
  ///
  /// A row that is not there after a commit has gone, and so has the scope.
  ///
  /// - Parameters:
  ///   - id: The id of the row.
  ///   - rows: The rows.
  @inlinable
  public func scope<Row>(
    row id: Row.ID, in rows: any WritableKeyPath<State, Rows<Row>> & Sendable
  ) -> Store<Row, Never>? {
    scope(row: id, in: rows, justTheAction)
  }

  /// All rows as stores of their own, in their order, which are changed in place.
  ///
  /// Which rows there are is observed, and not what is in them.
  ///
  /// - Parameter rows: The rows.
  @inlinable
  public func scope<Row>(
    rows: any WritableKeyPath<State, Rows<Row>> & Sendable
  ) -> [Store<Row, Never>] {
    scope(rows: rows, justTheAction)
  }
}

/// Written for every type of action: of `Never`, the compiler would say that it is not called.
@usableFromInline
func itself<Action>(_ action: Action) -> Action { action }

@usableFromInline
func justTheAction<ID, Action>(_: ID, _ action: Action) -> Action { action }
