public import MiniRex

extension Store {
  /// Returns a live query of rows in the state.
  ///
  /// ```swift
  /// let open = store.live(\.cards).filter { !$0.isDone }
  /// ```
  ///
  /// The query retains the last state of the store, but not the store. It finishes with the store,
  /// or with the child of a scope.
  ///
  /// - Parameter rows: The key path of the rows, or a closure that returns them. It runs once for
  ///   each commit and subscriber.
  @inlinable
  public func live<Row>(_ rows: @escaping @Sendable (State) -> Rows<Row>) -> LiveRows<Row> {
    let inputs = PublishedValue<any LiveInput>(
      watchedBy: lineage, as: "live",
      value: .untracked { [backing] in
        switch backing {
        case .root(let storage): RowsInput(rows(storage.current))
        case .scope(let scope): RowsInput(rows(scope.state))
        }
      }
    ) { [backing] receive in
      let last = SerialState<RowsStamp?>(nil)
      let publish: @Sendable (Commit<State, Action>) -> Void = { commit in
        let rows = rows(commit.state)
        if last.value == rows.stamp { return }
        last.value = rows.stamp
        receive(RowsInput(rows))
      }
      return switch backing {
      case .root(let storage): storage.subscribeToCommits(publish)
      case .scope(let scope): scope.subscribeToCommits(publish)
      }
    }
    return LiveRows(rowsFrom: inputs, isStore: true)
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Returns a live query of the rows.
  ///
  /// The publisher may compare and copy the rows on each change, which is O(n). `Store.live(_:)`
  /// does not.
  @inlinable
  public func live<Row>() -> LiveRows<Row> where Update == Rows<Row> {
    LiveRows(
      rowsFrom: PublishedValue<any LiveInput>(
        of: self, value: .untracked { readCurrent().map { RowsInput($0) } }
      ) { receive in follow { receive(RowsInput($0)) } }, isStore: false)
  }
}

extension LiveRows {
  /// - Parameter inputs: A publisher of `RowsInput`.
  @inlinable
  init(rowsFrom inputs: PublishedValue<any LiveInput>, isStore: Bool) {
    self.init(inputs, isStore: isStore) {
      let index = RowsIndex<Row>()
      return LiveStage(
        apply: { input in
          let input = unsafe unsafeDowncast(input, to: RowsInput<Row>.self)
          guard let rows = input.take() else {
            // The run has read this version, and another source has changed.
            index.changed.row = nil
            return LiveChange()
          }
          return index.apply(rows)
        },
        count: { index.tree.count },
        row: { index.changed.row(at: $0) ?? index.tree[$0] },
        tree: { index.tree }, changed: index.changed)
    }
  }
}
