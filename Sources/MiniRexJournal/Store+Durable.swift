public import MiniRexStore

extension Store {
  /// Sends an action, and returns a value of its own commit when the commit is on the disk.
  ///
  /// ```swift
  /// let receipt = try await board.send(.opened(title), in: journal) { $0.issues.count }
  /// ```
  ///
  /// A kill or a power loss after the return loses no commit of the action's chain, whichever thread
  /// writes the lines. Concurrent calls share synchronizations. Other threads can read the state before
  /// it is on the disk. The effects begin without waiting for the disk.
  ///
  /// Cancellation of the calling task has no effect, because the action is already committed. See
  /// `send(_:reading:)` of the store for `read`. A scope passes the journal of its root. After
  /// its child was removed, it commits nothing and returns.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - journal: The journal that records the root store.
  ///   - read: A closure that reads the state, with exclusive access.
  /// - Throws: Before the send, ``JournalFailure/notRecording`` if the journal does not record this
  ///   store, or the failure that ended its recording. Then nothing is committed. After the send, the
  ///   failure of the write or the synchronization. Then the commit stays in memory.
  public func send<Value, Root, RootAction>(
    _ action: Action, in journal: Journal<Root, RootAction>, reading read: (State) -> Value
  ) async throws(JournalFailure) -> Receipt<Value> {
    try journal.requireRecording(of: rootIdentity)
    let receipt = send(action, reading: read)
    try await journal.flush(through: receipt.task)
    return receipt
  }

  /// Sends an action, and returns when its commit is on the disk.
  ///
  /// See ``send(_:in:reading:)`` for the parameters and the guarantees.
  ///
  /// - Returns: A task that represents the effects of the action.
  @discardableResult
  public func send<Root, RootAction>(
    _ action: Action, in journal: Journal<Root, RootAction>
  ) async throws(JournalFailure) -> StoreTask {
    try journal.requireRecording(of: rootIdentity)
    // A receipt, because a reading send is never queued behind the caller's own reducer.
    let task = send(action) { _ in }.task
    try await journal.flush(through: task)
    return task
  }
}

extension Journal {
  /// Returns when the commits of a send are on the disk.
  ///
  /// Use it to send first, and to wait later or elsewhere. See ``flush(through:)-(Int?)``.
  ///
  /// - Parameter task: The task of a send to the recorded store, or to a scope of it. Without a number, it
  ///   returns immediately.
  public func flush(through task: StoreTask) async throws(JournalFailure) {
    try await flush(through: task.number)
  }
}
