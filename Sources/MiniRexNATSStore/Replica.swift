#if NATS
public import MiniRex
public import MiniRexNATS
public import MiniRexStore

/// A store whose actions come from a stream, so that every process has the same state.
///
/// ```swift
/// let replica = try await Replica(
///   Board(), of: "board", over: nats, snapshotsIn: "snapshots", reducer: reducer)
/// let subscription = replica.store.publisher(of: \.cards).subscribe { show($0) }
/// replica.send(.moved(card, to: .done))
/// ```
///
/// A send appends the action to the stream. Each replica reduces the same actions in the same
/// order, so the reducer must depend on the state and the action only. Effects run in the process
/// that sent the action, and their actions are appended as well. Without a connection the replica
/// keeps its state, and it continues from there after the reconnect.
///
/// Retain the connection and the replica. Releasing the replica stops it: its effects are canceled,
/// and pending actions fail with `closed`. Actions are encoded as JSON with sorted keys, as in a
/// `Journal`.
public final class Replica<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private let core: ReplicaCore<State, Action>

  /// The store with the committed state, which you can read, observe, and scope on any thread.
  ///
  /// Callbacks run on a thread of libnats. Sending an action to the store or to a scope of it
  /// traps, because the action would reach this process only. Send it to the replica.
  public let store: Store<State, Action>

  /// The sequence in the stream of the last action that was committed here.
  ///
  /// The commits of the store have separate numbers, which start with the replica.
  public var sequence: PublishedValue<UInt64> { core.sequence.publisher }

  /// The reason why the replica stopped, or `nil` while it runs.
  public var failure: PublishedValue<ReplicaFailure?> { core.failure.publisher }

  /// The reason why the last snapshot of this process was not written, or `nil` if it was.
  ///
  /// The usual reason is a state larger than the server's limit for payloads.
  public var snapshotFailure: PublishedValue<NATSError?> { core.snapshots.failure.publisher }

  /// Loads the snapshot, if one exists, and follows the stream from there.
  ///
  /// With a bucket, it waits for the connection and for the bucket. It does not wait for the
  /// stream: the store catches up after the initializer has returned. The stream and the bucket
  /// must be created separately. While one of them does not exist, `diagnostics` of the connection
  /// reports it, and the replica waits for it.
  ///
  /// - Parameters:
  ///   - initial: The state before the first action of the stream.
  ///   - stream: The name of the stream, which is also the subject of the actions and the key of
  ///     the snapshot.
  ///   - nats: The connection.
  ///   - bucket: The bucket of the snapshots, or `nil`, to read all actions of the stream at the
  ///     start.
  ///   - count: The number of actions between two snapshots. The replica that sent the last of them
  ///     writes the snapshot. Traps if less than 1.
  ///   - limit: The maximum number of pending actions. A further action fails with
  ///     `sendLimitReached`.
  ///   - policy: The reaction to an action of another replica that cannot be decoded, by default to
  ///     stop.
  ///   - name: The name of the store for an instrument.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  ///   - reducer: The reducer, the same in all processes.
  public init(
    _ initial: State, of stream: String, over nats: NATSConnection,
    snapshotsIn bucket: String? = nil, snapshotEvery count: Int = 1_000,
    pendingLimit limit: Int = 1_000,
    undecodable policy: UndecodableActionPolicy = .stop,
    name: String? = nil, fileID: String = #fileID, line: Int = #line,
    reducer: @escaping Reducer<State, Action>
  ) async throws(ReplicaFailure) {
    if count < 1 { misuse("'Replica' requires 'snapshotEvery' of 1 or more, not \(count).") }
    let snapshots = ReplicaSnapshots<State>(
      in: bucket.map { nats.bucket($0) }, key: stream, every: UInt64(count))
    let first = try await snapshots.read() ?? ReplicaSnapshot(sequence: 0, state: initial)
    let log = nats.stream(stream)
    let gate = ReplicaGate<Action>()
    let store = Store<State, Action>(
      first.state, name: name ?? stream, fileID: fileID, line: line
    ) { state, action in
      gate.pass(reducer(&state, action))
      return .none
    }
    self.store = store
    core = ReplicaCore(
      store, gate, of: log, snapshots, from: first,
      Outbox(to: log, over: nats, limit: max(1, limit), at: first.sequence),
      undecodable: policy)
    core.follow()
  }

  deinit { core.end() }

  /// Appends an action, and returns its sequence once it is committed here.
  ///
  /// It returns immediately. The action is appended even if the task has no subscriber, and
  /// canceling a subscription does not undo it. Actions of one replica are appended in order, one
  /// at a time. They are pending while the connection or the stream is unavailable.
  ///
  /// Each action is applied once. After a lost answer, the action is appended again only if the
  /// stream does not contain it up to its end, and every replica ignores a late copy. That does not
  /// depend on `NATSStreamOptions.duplicateWindow`.
  ///
  /// An action stays pending while the stream is full and its discard policy is `.new`. A stream whose
  /// limits remove old messages stops the replica with ``ReplicaFailure/unsuitable(reason:)``, and
  /// nothing is appended to it.
  ///
  /// The task fails with `sendLimitReached` if too many actions are pending, with the server's
  /// error if it refuses the action, and with `closed` after the replica has stopped. An action
  /// that was pending then may be in the stream.
  @discardableResult
  public func send(_ action: Action) -> PublishedTask<UInt64, NATSError> {
    core.outbox.send(action)
  }
}
#endif
