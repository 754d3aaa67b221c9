public import MiniRex

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MemoryLog {
  /// The connection of one replica to a log in memory.
  ///
  /// A new link works. Cut it, or let it misbehave, at any time and on any thread.
  public final class Link: ReplicaLog {
    typealias AppendSource = TaskSource<UInt64, ReplicaLogError>

    /// One subscription to the entries.
    struct Reader: Sendable {
      let events = BroadcastSource<ReplicaLogEvent>()
      /// The sequence of the last entry that was delivered to it.
      var position: UInt64
    }

    struct State: EmittingState {
      var isConnected: Bool
      var isDeaf = false
      var isRefusing = false
      var losesAnswers = false
      var readers: [Reader] = []
      var outgoing = OutgoingEvents<
        (events: BroadcastSource<ReplicaLogEvent>, event: ReplicaLogEvent)
      >()
      /// The answers that were lost.
      var unanswered: [AppendSource] = []
      /// The entries in flight, and the entries of lost connections, which may arrive later.
      var inFlight: [(message: ReplicaMessage, source: AppendSource)] = []
      var late: [ReplicaMessage] = []
      /// The reads of the snapshot that wait.
      var isHeld = false
      var waiting: [(source: TaskSource<Data?, ReplicaLogError>, sequence: UInt64)] = []
    }

    let log: MemoryLog
    let state: Lock<State>
    private let isManual: Bool

    init(_ log: MemoryLog, isConnected: Bool, isManual: Bool) {
      (self.log, self.isManual) = (log, isManual)
      state = Lock(State(isConnected: isConnected))
    }

    /// A Boolean value that indicates whether the link delivers no entries, although it is connected.
    ///
    /// Setting it to `false` delivers the entries that it has withheld.
    public var isDeaf: Bool {
      get { state.withLock { $0.isDeaf } }
      set {
        state.withLock { $0.isDeaf = newValue }
        deliverAll()
      }
    }

    /// A Boolean value that indicates whether the log refuses the entries of this link.
    public var isRefusing: Bool {
      get { state.withLock { $0.isRefusing } }
      set { state.withLock { $0.isRefusing = newValue } }
    }

    /// A Boolean value that indicates whether the log accepts entries without an answer, until the link is cut.
    public var losesAnswers: Bool {
      get { state.withLock { $0.losesAnswers } }
      set { state.withLock { $0.losesAnswers = newValue } }
    }

    /// Cuts the connection, which does nothing if it is cut.
    public func cut() {
      let failed = emitting { state in
        let failed = state.inFlight.map(\.source) + state.unanswered
        state.late += state.inFlight.map(\.message)
        (state.inFlight, state.unanswered) = ([], [])
        if state.isConnected {
          for reader in state.readers { state.outgoing.append((reader.events, .disconnected)) }
        }
        state.isConnected = false
        return failed
      }
      for source in failed { source.finish(.failure(ReplicaLogError("disconnected"))) }
    }

    /// Connects again, which does nothing if it is connected.
    public func connect() {
      emitting { state in
        if !state.isConnected { for reader in state.readers { hasConnected(reader, &state) } }
        state.isConnected = true
      }
      deliverAll()
    }

    /// Appends an entry.
    public func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
      let source = AppendSource()
      let (failure, losesAnswer): (String?, Bool) = state.withLock { state in
        if !state.isConnected { return ("disconnected", false) }
        if state.isRefusing { return ("refused", false) }
        if isManual {
          state.inFlight.append((entry, source))
        } else if state.losesAnswers {
          state.unanswered.append(source)
        }
        return (nil, state.losesAnswers)
      }
      if let failure {
        source.finish(.failure(ReplicaLogError(failure, isRefusal: failure == "refused")))
      } else if !isManual {
        let sequence = log.accept(entry)
        if !losesAnswer { source.finish(.success(sequence)) }
        log.changes.broadcast(())
      }
      return source.publisher
    }

    /// Emits the entries after a sequence.
    public func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
      Broadcaster { [self] receive in
        let reader = Reader(position: sequence)
        let subscription = reader.events.publisher.subscribe { receive($0) }
        let following = log.changes.publisher.subscribe { [weak self] _ in self?.deliverAll() }
        emitting { state in
          state.readers.append(reader)
          if state.isConnected { hasConnected(reader, &state) }
        }
        deliverAll()
        return Subscription { [weak self] in
          following.invalidate()
          subscription.invalidate()
          self?.state.withLock { $0.readers.removeAll { $0.events === reader.events } }
        }
      }
    }

    /// Reads the newest snapshot at or before a sequence.
    public func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError> {
      let source = TaskSource<Data?, ReplicaLogError>()
      let (isConnected, isHeld) = state.withLock { state in
        if state.isConnected, state.isHeld { state.waiting.append((source, sequence)) }
        return (state.isConnected, state.isHeld)
      }
      if !isConnected { return .failure(ReplicaLogError("disconnected")) }
      if isHeld { return source.publisher }
      return .success(log.content.withLock { $0.snapshot(through: sequence)?.data })
    }

    /// The number of actions between two snapshots.
    public var snapshotDistance: Int { log.snapshotDistance }

    /// Emits the digest of the newest snapshot, if there is one, then of each newer snapshot.
    public func digests() -> Broadcaster<ReplicaDigest> {
      Broadcaster { [log] receive in
        let subscription = log.digests.publisher.subscribe { receive($0) }
        if let old = log.content.withLock({ $0.snapshots.first }) { receive(ReplicaDigest(old)) }
        return subscription
      }
    }

    /// Adds a snapshot.
    public func addSnapshot(
      _ snapshot: ReplicaLogSnapshot
    ) -> PublishedTask<Void, ReplicaLogError> {
      if !state.withLock({ $0.isConnected }) { return .failure(ReplicaLogError("disconnected")) }
      return log.addSnapshot(snapshot).map { .failure($0) } ?? .success(())
    }

    private func deliverAll() {
      if isManual { return }
      while deliverNext() {}
    }

    /// Delivers an entry to each subscription that needs one, and returns `false` if it has delivered nothing.
    func deliverNext() -> Bool {
      emitting { state in
        if !state.isConnected || state.isDeaf { return false }
        var hasDelivered = false
        for index in state.readers.indices {
          let reader = state.readers[index]
          guard let entry = log.entry(after: reader.position) else { continue }
          hasDelivered = true
          state.readers[index].position = entry.sequence
          state.outgoing.append((reader.events, .entry(entry)))
          if log.entry(after: entry.sequence) == nil {
            state.outgoing.append((reader.events, .current))
          }
        }
        return hasDelivered
      }
    }

    /// Queues the events of a new connection.
    func hasConnected(_ reader: Reader, _ state: inout State) {
      let position = reader.position
      let logState = log.content.withLock { content in
        ReplicaLogState(
          first: content.first, last: content.last, lastTime: content.time, entry: content[position]
        )
      }
      state.outgoing.append((reader.events, .connected(logState)))
      if log.entry(after: position) == nil { state.outgoing.append((reader.events, .current)) }
    }

    /// Changes the state, and emits the events that the change has queued.
    @discardableResult
    func emitting<Result>(_ change: (inout State) -> Result) -> Result {
      state.emitting({ $0.events.broadcast($0.event) }, change)
    }
  }
}
