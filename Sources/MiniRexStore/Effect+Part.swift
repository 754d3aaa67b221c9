extension Effect {
  /// Reduces a part that is always there, and gives its effects as those of the whole.
  ///
  /// ```swift
  /// case .form(let action):
  ///   return .reduce(&state, \.form, action, by: form) { .form($0) }
  /// ```
  ///
  /// `form(&state.form, action).map { .form($0) }` does the same for a part in which nothing may go: it
  /// does not say where the part is, so effects of parts that may go stop the program in it.
  ///
  /// - Parameters:
  ///   - state: What contains the part.
  ///   - part: The part.
  ///   - action: An action of the part.
  ///   - reducer: What actions do to the part.
  ///   - embed: Makes an action of the part one of the whole.
  public static func reduce<State, Part: Sendable, PartAction: Sendable>(
    _ state: inout State, _ part: any WritableKeyPath<State, Part> & Sendable,
    _ action: PartAction, by reducer: Reducer<Part, PartAction>,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Effect {
    reducer(&state[keyPath: part], action).map(embed).belonging(to: PathStep(path: part))
  }

  /// Reduces a part that may be `nil`, to which its effects then belong.
  ///
  /// ```swift
  /// case .sheet(let action):
  ///   return .reduce(&state, ifPresent: \.sheet, action, by: sheet) { .sheet($0) }
  /// ```
  ///
  /// If it is `nil`, nothing happens. When it is `nil` after a commit, its effects are cancelled. Their
  /// ids are the part's own, so that the same id in the whole is another one.
  ///
  /// - Parameters:
  ///   - state: What contains the part.
  ///   - part: The part.
  ///   - action: An action of the part.
  ///   - reducer: What actions do to the part.
  ///   - embed: Makes an action of the part one of the whole.
  public static func reduce<State, Part: Sendable, PartAction: Sendable>(
    _ state: inout State, ifPresent part: any WritableKeyPath<State, Part?> & Sendable,
    _ action: PartAction, by reducer: Reducer<Part, PartAction>,
    _ embed: @escaping @Sendable (PartAction) -> Action
  ) -> Effect {
    let effect = state[keyPath: part].change { reducer(&$0, action) }
    return effect?.map(embed).belonging(to: OptionalStep(path: part)) ?? .none
  }

  /// Reduces a row, to which its effects then belong.
  ///
  /// ```swift
  /// case .item(let id, let action):
  ///   return .reduce(&state, row: id, in: \.items, action, by: item) { .item($0, $1) }
  /// ```
  ///
  /// If there is no row with the id, nothing happens. When it is not there after a commit, its effects
  /// are cancelled. Their ids are the row's own.
  ///
  /// - Parameters:
  ///   - state: What contains the rows.
  ///   - id: The id of the row.
  ///   - rows: The rows.
  ///   - action: An action of the row.
  ///   - reducer: What actions do to a row.
  ///   - embed: Makes an action of the row, whose id it gets, one of the whole.
  public static func reduce<State, Row, RowAction: Sendable>(
    _ state: inout State, row id: Row.ID,
    in rows: any WritableKeyPath<State, Rows<Row>> & Sendable,
    _ action: RowAction, by reducer: Reducer<Row, RowAction>,
    _ embed: @escaping @Sendable (Row.ID, RowAction) -> Action
  ) -> Effect {
    let effect = state[keyPath: rows][id: id].change { reducer(&$0, action) }
    return effect?.map { embed(id, $0) }.belonging(to: RowStep(path: rows, id: id)) ?? .none
  }

  /// What costs nothing stays as it is.
  private func belonging(to step: some PartStep) -> Effect {
    if case .none = kind { self } else { Effect(.part(step, self)) }
  }
}

extension Optional {
  /// Changes what there is in place; `nil` if there is nothing.
  mutating func change<Result>(_ body: (inout Wrapped) -> Result) -> Result? {
    guard var value = take() else { return nil }
    defer { self = value }
    return body(&value)
  }
}
