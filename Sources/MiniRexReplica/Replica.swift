internal import Dispatch
public import MiniRex
internal import MiniRexJournal
public import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A store whose actions are decided by a log, so that every process has the same state, and which does not wait for it.
///
/// A send changes the state before it returns, with or without a connection. The log then decides all actions in one
/// order. When the actions of other replicas come first, the state is rebased: it becomes the decided state plus the
/// pending actions. The reducer and the validator must depend on the state and the action only. The sender decides an
/// action as it was sent, and other replicas as they have decoded it, so its coding must keep everything that the
/// reducer and the validator read.
///
/// Retain the replica. Releasing it stops it, and pending actions fail with ``ReplicaError/closed``.
public final class Replica<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  let core: ReplicaCore<State, Action>

  /// The store with the decided state and the pending actions.
  ///
  /// Actions that are sent to it or to a scope are sent to the log. A `StoreTask` covers the local commit only: a rejection
  /// at the send fails it, a later rejection is emitted by ``rejections``. Effects run after the decision, so the task does
  /// not wait for them.
  public let store: Store<State, Action>

  /// The state that every replica agrees on.
  public var confirmed: PublishedValue<State> { core.confirmed.publisher }

  /// The position of the replica.
  ///
  /// `current()` counts a send and a disconnection immediately. Subscribers receive them on the replica's queue, soon
  /// after the call.
  public var progress: PublishedValue<ReplicaProgress> {
    core.progress.publisher.map { [weak core] last in core?.presentProgress(after: last) ?? last }
  }

  /// The digest of this replica's state at the last entry at which a snapshot was due, or `nil` before one.
  ///
  /// It has the same value in all replicas. It is always `nil` unless the replica `verifies`. The digests of a state with a
  /// `Set` differ between processes, because its elements have another order in each.
  public var digest: PublishedValue<ReplicaDigest?> { core.verifier.own.publisher }

  /// The decided actions, in the order of the log.
  public var entries: Broadcaster<ReplicaEntry<Action>> { core.entries.publisher }

  /// The rejected actions that were sent through the store.
  ///
  /// Rejections of actions that an earlier process has sent are kept for the first subscriber.
  public var rejections: Broadcaster<Rejection<Action>> { core.sending.rejections.publisher }

  /// The problems with the log, its snapshot, and the files.
  ///
  /// The first 100 are kept for the first subscriber. Later subscribers do not receive earlier ones.
  public var troubles: Broadcaster<ReplicaTrouble> { core.troubles.publisher }

  /// Reads the log, and sends the pending actions of the folder.
  ///
  /// - Parameters:
  ///   - initial: The state before the first entry of the log.
  ///   - log: The log.
  ///   - folder: The path of an existing folder for the pending actions and the confirmed state, for one process. Without
  ///     it, they end with the process.
  ///   - durability: The fault that the pending actions in the folder survive. The default is a killed process.
  ///   - verifies: A Boolean value that indicates whether the replica compares its state with each snapshot of another
  ///     replica, and stops with ``ReplicaTrouble/diverged(at:)`` if they differ. The default is `true` in debug builds.
  ///     It encodes the state for each snapshot, and decodes its own actions.
  ///   - limit: The maximum number of pending actions. The default is 10,000. Traps if less than 1.
  ///   - interval: The time without a decision after which pending actions are sent again. The default is 2 seconds. Traps
  ///     if negative.
  ///   - name: The name of the store for an instrument.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  ///   - reducer: The reducer, the same in all processes.
  ///   - validate: The validator, the same in all processes. It throws an error to reject an action. The default accepts
  ///     each action.
  /// - Throws: ``ReplicaError/notKept(_:)`` or ``ReplicaError/notDecodable(_:)`` for the folder.
  public init(
    _ initial: State, of log: any ReplicaLog, keptIn folder: String? = nil,
    durability: ReplicaDurability = .written,
    verifies: Bool = _isDebugAssertConfiguration(),
    pendingLimit limit: Int = 10_000, retryAfter interval: Duration = .seconds(2),
    name: String? = nil, fileID: String = #fileID, line: Int = #line,
    reducer: @escaping Reducer<State, Action>,
    validating validate: @escaping @Sendable (State, Action) throws -> Void = { _, _ in }
  ) throws(ReplicaError) {
    if limit < 1 { misuse("'Replica' requires a 'pendingLimit' of 1 or more, not \(limit).") }
    if interval < .zero {
      misuse("'Replica' requires a 'retryAfter' of 0 or more, not \(interval).")
    }
    let outbox: OutboxFile?
    do { outbox = try folder.map { try OutboxFile(in: $0) } } catch { throw .notKept(error) }
    let file = folder.map { folder in
      StateFile<State>(in: folder, durability) { outbox?.forget(through: $0) }
    }
    var kept = file?.restored ?? KeptState(decided: DecidedState(initial))
    let settled = outbox?.restored.settled ?? 0
    // A damaged number must not remove pending actions.
    kept.settled = max(0, min(kept.settled, settled))
    let decoder = makeDecoder()
    var restored: [(number: Int, line: Data, sentAt: Int?, action: Action)] = []
    // After a power failure, the state may be newer than the pending actions.
    let last = max(kept.settled, outbox.map { kept.decided.table.last(of: $0.origin) } ?? 0)
    for (number, line, _) in outbox?.restored.lines ?? [] where number > last {
      do {
        let action = try decoder.decode(Action.self, from: line)
        restored.append((number, line, outbox?.sentAt(number), action))
      } catch {
        if number > settled { throw .notDecodable(error) }
        // An earlier version has sent it. Decided actions are only shown, and need their successors.
        restored = []
      }
    }
    let sending = SendSide(reducer, validate, limit: limit, outbox, durability, restoring: restored)
    var state = kept.decided.state
    sending.replay(sending.pending.withLock { $0.actions }, on: &state)
    let store = Store<State, Action>(state, name: name, fileID: fileID, line: line) {
      sending.reduce(&$0, $1)
    }
    store.isReplicated = true
    self.store = store
    core = ReplicaCore(
      store, sending, log, kept, initial: initial, keeping: file, verifies: verifies,
      retryAfter: Int(min(interval, .seconds(1_000_000_000)) / .nanoseconds(1))
    )
    core.start()
  }

  deinit { core.close() }

  /// Applies an action, and returns the decision about it.
  ///
  /// The state has changed when it returns, unless the task has failed. Traps inside the reducer of the store.
  @discardableResult
  public func send(_ action: Action) -> PublishedTask<ReplicaConfirmation, ReplicaError> {
    core.sending.send(action, to: store)
  }

  /// Returns when the replica has applied all entries that the log has at the time of the call.
  ///
  /// Offline it waits for the connection. It reads the end of the log with a separate subscription.
  ///
  /// It throws ``ReplicaError/stopped(_:)`` or ``ReplicaError/closed`` if the replica ends, and `CancellationError` if the
  /// calling task is canceled.
  public func caughtUp() async throws { try await core.caughtUp() }

  /// Returns when all actions are decided that were sent before the call, accepted or rejected.
  ///
  /// Offline it waits for the connection. It throws like ``caughtUp()``.
  public func flush() async throws { try await core.flush() }

  /// Returns when all events that the log has emitted are processed.
  package func processed() async {
    await withCheckedContinuation { continuation in
      core.sending.queue.async { [core] in
        // Actions may wait for further actions.
        core.sending.runPump()
        continuation.resume()
      }
    }
  }

  /// Stops the replica, and writes its state to the folder.
  ///
  /// Pending actions fail with ``ReplicaError/closed``. With a folder, the next replica sends them, so flush only to wait
  /// for the log. Another replica can use the folder when it returns.
  public func close() async {
    core.close()
    await processed()
  }
}
