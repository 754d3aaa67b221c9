extension Store {
  /// Returns a scope over a child state that is always present.
  ///
  /// ```swift
  /// let form: Store<Form, FormAction> = store.scope(\.form) { .form($0) }
  /// form.send(.cleared)  // as `store.send(.form(.cleared))`
  /// ```
  ///
  /// A scope has no storage: its actions are actions of the parent, and its commits have the
  /// parent's numbers. It retains the parent. Repeated calls return the same object while it is in
  /// use. The first `embed` is kept, so two embeddings of one child need two action types.
  ///
  /// - Parameters:
  ///   - child: The key path of the child.
  ///   - embed: Wraps an action of the child in an action of the parent.
  @inlinable
  public func scope<Child: Sendable, ChildAction: Sendable>(
    _ child: any WritableKeyPath<State, Child> & Sendable,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Child, ChildAction> {
    let scope = find(PathStep(path: child), child, embed)
    guard let scope else { fatalError("A child that is not removable is missing.") }
    return scope
  }

  /// Returns a scope over an optional child, or `nil` if the child is `nil`.
  ///
  /// ```swift
  /// let sheet: Store<Form, FormAction>? = store.scope(ifPresent: \.sheet) { .sheet($0) }
  /// ```
  ///
  /// A commit after which the child is `nil` ends the scope: ``isActive`` is `false`, `send` and
  /// `commit` do nothing, its subscriptions finish, and the effects of
  /// ``Effect/reduce(_:ifPresent:_:by:_:)`` are canceled. A later child gets another scope. The
  /// presence of the child is observed, like a member. In all other respects, the scope is like
  /// ``scope(_:_:)``.
  ///
  /// - Parameters:
  ///   - child: The key path of the optional child.
  ///   - embed: Wraps an action of the child in an action of the parent.
  @inlinable
  public func scope<Child: Sendable, ChildAction: Sendable>(
    ifPresent child: any WritableKeyPath<State, Child?> & Sendable,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Child, ChildAction>? {
    observePresence(of: child)
    return find(OptionalStep(path: child), child, embed)
  }

  /// Returns a scope over the row with the given ID, or `nil` if no row has the ID.
  ///
  /// ```swift
  /// let item: Store<Item, FormAction>? = store.scope(row: "a", in: \.items) { .item($0, $1) }
  /// ```
  ///
  /// A commit after which the row is missing ends the scope, as for an optional child. A later row
  /// with the same ID gets another scope. Subscribers of a row receive only commits that changed
  /// the row, at a cost independent of the number of rows.
  ///
  /// - Parameters:
  ///   - id: The ID of the row.
  ///   - rows: The key path of the rows.
  ///   - embed: Wraps the row's ID and an action of the row in an action of the parent.
  @inlinable
  public func scope<Row, RowAction: Sendable>(
    row id: Row.ID, in rows: any WritableKeyPath<State, Rows<Row>> & Sendable,
    _ embed: @escaping @Sendable (Row.ID, RowAction) -> Action
  ) -> Store<Row, RowAction>? {
    find(RowStep(path: rows, id: id), rows, id: AnyHashable(id)) { embed(id, $0) }
  }

  /// Returns scopes over all rows, in order.
  ///
  /// The IDs and their order are observed, and the rows themselves are not. The cost is O(n). To
  /// show some of the rows, use ``ids(in:)`` and scope only those.
  ///
  /// - Parameters:
  ///   - rows: The key path of the rows.
  ///   - embed: Wraps the row's ID and an action of the row in an action of the parent.
  @inlinable
  public func scope<Row, RowAction: Sendable>(
    rows: any WritableKeyPath<State, Rows<Row>> & Sendable,
    _ embed: @escaping @Sendable (Row.ID, RowAction) -> Action
  ) -> [Store<Row, RowAction>] {
    ids(in: rows).compactMap { scope(row: $0, in: rows, embed) }
  }

  /// Returns the IDs of the rows, in order.
  ///
  /// The IDs and their order are observed, and the rows themselves are not.
  public func ids<Row>(in rows: any KeyPath<State, Rows<Row>> & Sendable) -> [Row.ID] {
    switch backing {
    case .root(let storage):
      let key = MemberKey(path: rows, aspect: .ids)
      _ = storage.observe(key, in: nil) { $0[keyPath: rows].structureStamp }
    case .scope(let scope): scope.observeRows(rows)
    }
    return state[keyPath: rows].ids
  }

  /// Lets the current observer track whether the child is present.
  ///
  /// Called before the lookup of the child, so that no change between the two is missed.
  @usableFromInline
  func observePresence<Child>(of child: any KeyPath<State, Child?> & Sendable) {
    switch backing {
    case .root(let storage):
      let key = MemberKey(path: child, aspect: .presence)
      _ = storage.observe(key, in: nil) { $0[keyPath: child] != nil }
    case .scope(let scope): _ = scope.isPresent(child)
    }
  }

  /// Inlinable, so that the scope is compiled for the caller's types.
  @inlinable
  func find<Step: ScopeStep, ChildAction>(
    _ step: Step, _ path: AnyKeyPath, id: AnyHashable? = nil,
    _ embed: @escaping @Sendable (ChildAction) -> Action
  ) -> Store<Step.Child, ChildAction>? where Step.Outer == State {
    let key = ScopeKey(path: path, action: ObjectIdentifier(ChildAction.self), id: id)
    switch backing {
    case .root(let storage):
      defer { extendLifetime(self) }
      if let scope = storage.find(key, in: nil, as: Store<Step.Child, ChildAction>.self) {
        return scope
      }
      return storage.scope(
        step, at: nil, in: nil, as: key, of: self, lineage: lineage, last: { nil }, embed: embed)
    case .scope(let scope):
      if let scope = scope.find(key, as: Store<Step.Child, ChildAction>.self) { return scope }
      return scope.scope(step, key, of: self, embed)
    }
  }
}

extension Store where Action == Never {
  /// Returns a scope over a child state that is always present.
  ///
  /// Changing the scope is a commit of the parent.
  ///
  /// - Parameter child: The key path of the child.
  @inlinable
  public func scope<Child: Sendable>(
    _ child: any WritableKeyPath<State, Child> & Sendable
  ) -> Store<Child, Never> {
    scope(child, itself)
  }

  /// Returns a scope over an optional child, or `nil` if the child is `nil`.
  ///
  /// A commit after which the child is `nil` ends the scope.
  ///
  /// - Parameter child: The key path of the optional child.
  @inlinable
  public func scope<Child: Sendable>(
    ifPresent child: any WritableKeyPath<State, Child?> & Sendable
  ) -> Store<Child, Never>? {
    scope(ifPresent: child, itself)
  }

  /// Returns a scope over the row with the given ID, or `nil` if no row has the ID.
  ///
  /// A commit after which the row is missing ends the scope.
  ///
  /// - Parameters:
  ///   - id: The ID of the row.
  ///   - rows: The key path of the rows.
  @inlinable
  public func scope<Row>(
    row id: Row.ID, in rows: any WritableKeyPath<State, Rows<Row>> & Sendable
  ) -> Store<Row, Never>? {
    scope(row: id, in: rows, justTheAction)
  }

  /// Returns scopes over all rows, in order.
  ///
  /// The IDs and their order are observed, and the rows themselves are not.
  ///
  /// - Parameter rows: The key path of the rows.
  @inlinable
  public func scope<Row>(
    rows: any WritableKeyPath<State, Rows<Row>> & Sendable
  ) -> [Store<Row, Never>] {
    scope(rows: rows, justTheAction)
  }
}

/// Generic over the action, because the compiler warns that a closure of `Never` is never called.
@usableFromInline
func itself<Action>(_ action: Action) -> Action { action }

@usableFromInline
func justTheAction<ID, Action>(_: ID, _ action: Action) -> Action { action }
