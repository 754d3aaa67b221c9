public import MiniRex
public import MiniRexNATS
public import MiniRexStore

/// A store whose actions come from a stream, so that every process that follows it has the same state.
///
/// ```swift
/// let replica = try await Replica(
///   Board(), of: "board", over: nats, snapshotsIn: "snapshots", reducer: reducer)
/// let subscription = replica.store.publisher(of: \.cards).subscribe { show($0) }
/// replica.send(.moved(card, to: .done))
/// ```
///
/// To send is to append to the stream: each replica of it reduces the same actions in the same order,
/// so the reducer reads nothing but the state and the action. Effects run in the process that has sent
/// the action, and what they send is appended too. It keeps its state without a connection, and goes
/// on from there. Keep the connection and the replica: when that is released it follows no more, its
/// effects are cancelled, and what waits to be sent fails with `closed`. An action that has to be in
/// all processes is JSON of `Codable`, with its keys sorted, as in a `Journal`.
public final class Replica<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private let core: ReplicaCore<State, Action>

  /// What was committed; it may be read, watched and split into parts, on any thread.
  ///
  /// It calls on a thread of libnats. An action that is sent to it, or to a part of it, stops the
  /// program: it would be in this process only.
  public let store: Store<State, Action>

  /// The sequence of the last action that was committed here, in the stream.
  ///
  /// The store counts its commits from where it has begun.
  public var sequence: PublishedValue<UInt64> { core.sequence.publisher }

  /// Why it has stopped; `nil` while all is well.
  public var failure: PublishedValue<ReplicaFailure?> { core.failure.publisher }

  /// Why the last snapshot that was to be written here was not; `nil` if it was.
  ///
  /// A state that is larger than the server's limit for payloads is the usual reason.
  public var snapshotFailure: PublishedValue<NATSError?> { core.snapshots.failure.publisher }

  /// Begins with the snapshot, if there is one, and follows the stream from there.
  ///
  /// It waits for the bucket if one is named, hence for the connection, and not for the stream: the
  /// store catches up after this has returned. Neither the stream nor the bucket is made here;
  /// `troubles` of the connection tells if one is not there, and it is waited for.
  ///
  /// - Parameters:
  ///   - initial: The state before the first action of the stream.
  ///   - stream: The stream's name, which is the subject that is appended to and the key of the
  ///     snapshot, too.
  ///   - nats: Over which connection.
  ///   - bucket: Where snapshots are; `nil` for none: all actions are read at the beginning.
  ///   - count: After how many actions of the stream a snapshot is written, by the replica that has
  ///     sent the last of them.
  ///   - limit: How many actions may wait to be appended; one more fails with `sendLimitReached`.
  ///   - name: What an instrument calls the store.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  ///   - reducer: What actions do, the same in all processes.
  public init(
    _ initial: State, of stream: String, over nats: NATSConnection,
    snapshotsIn bucket: String? = nil, every count: Int = 1_000, waitingLimit limit: Int = 1_000,
    name: String? = nil, fileID: String = #fileID, line: Int = #line,
    reducer: @escaping Reducer<State, Action>
  ) async throws(ReplicaFailure) {
    if count < 1 { misuse("A replica cannot write its state every \(count) actions.") }
    let snapshots = ReplicaSnapshots<State>(
      in: bucket.map { nats.bucket($0) }, key: stream, every: UInt64(count))
    let first = try await snapshots.read() ?? ReplicaSnapshot(sequence: 0, state: initial)
    let gate = ReplicaGate<Action>()
    let store = Store<State, Action>(
      first.state, name: name ?? stream, fileID: fileID, line: line
    ) { state, action in
      gate.pass(reducer(&state, action))
      return .none
    }
    self.store = store
    core = ReplicaCore(
      store, gate, snapshots, from: first.sequence,
      Outbox(to: nats.stream(stream), over: nats, limit: max(1, limit)))
    core.follow(nats.stream(stream))
  }

  deinit { core.end() }

  /// Appends an action, and gives its sequence when it has come back and is committed here.
  ///
  /// It returns at once. It does so whether anybody subscribes or not, and whoever leaves does not undo
  /// it. What is sent here is appended in that order, one at a time, and waits while there is no
  /// connection or the stream cannot be reached. It fails at once if too many wait, and later if the
  /// server refuses it, as `append` of a `NATSStream` does; with
  /// `timedOut` if it was not known for 90 seconds whether it had been appended; and with `closed` when
  /// the replica has stopped.
  @discardableResult
  public func send(_ action: Action) -> PublishedTask<UInt64, NATSError> {
    core.outbox.send(action)
  }
}
