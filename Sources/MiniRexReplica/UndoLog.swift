public import MiniRex

/// Undo for a replica, which sends the inverse of the replica's latest action.
///
/// ```swift
/// let undo = UndoLog(of: replica) { board, action in
///   switch action {
///   case .claimed(let card, _): .released(card)
///   case .released(let card): board.owners[card].map { .claimed(card, by: $0) }
///   }
/// }
/// replica.send(.claimed("card", by: "Ann"))
/// undo.undo()
/// ```
///
/// A `History` would restore a state, and with it the actions of other replicas. An inverse action is decided by the log
/// like any other, so all replicas undo alike, and only this replica's actions are undone. The actions that the replica
/// sends from now on are recorded, through the store, a scope, or an effect. A rejected action is removed from the record.
///
/// Retain the log. It retains the replica.
public final class UndoLog<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private let replica: Replica<State, Action>
  private let record: UndoRecord<State, Action>

  /// A Boolean value that indicates whether an action can be undone, updated on the replica's queue.
  public var canUndo: PublishedValue<Bool> { record.canUndo.publisher }

  /// A Boolean value that indicates whether an undo can be reverted, updated on the replica's queue.
  public var canRedo: PublishedValue<Bool> { record.canRedo.publisher }

  /// Creates an undo log and starts recording.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - limit: The maximum number of actions to undo. The default is 100. Traps if less than 1.
  ///   - inverse: Returns the action that reverts an action, or `nil` for an action that is not undone. The state is the
  ///     state before the action. It runs with exclusive access to the state, under the same restrictions as a reducer.
  public init(
    of replica: Replica<State, Action>, limit: Int = 100,
    inverse: @escaping @Sendable (State, Action) -> Action?
  ) {
    if limit < 1 { misuse("'UndoLog' requires a limit of 1 or more, not \(limit).") }
    let record = UndoRecord(limit: limit, inverse)
    (self.replica, self.record) = (replica, record)
    replica.core.sending.add(record)
  }

  deinit { replica.core.sending.remove(record) }

  /// Sends the inverse of the latest recorded action.
  ///
  /// The state has changed when it returns `true`. An inverse that the validator rejects is dropped. Traps inside the
  /// reducer of the store.
  ///
  /// - Returns: `false` if nothing was sent.
  @discardableResult
  public func undo() -> Bool { replica.core.sending.send(.undo, of: record, to: replica.store) }

  /// Sends the inverse of the last ``undo()``.
  ///
  /// Any recorded action after the undo removes it.
  ///
  /// - Returns: `false` if nothing was sent.
  @discardableResult
  public func redo() -> Bool { replica.core.sending.send(.redo, of: record, to: replica.store) }
}
