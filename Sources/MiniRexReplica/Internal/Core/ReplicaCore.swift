internal import Dispatch
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The events of the log that wait for the queue.
///
/// It is not nested in the generic class, because each use would look up its metadata at run time.
private struct Events: Sendable {
  var queue: [(event: ReplicaLogEvent, reading: Int)] = []
  var isScheduled = false
}

/// Reads the log, decides its entries in bursts, and rebases the pending actions on them.
///
/// Methods run on the queue of the send side, except where they state another thread, and except for asynchronous ones.
final class ReplicaCore<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  /// Actions that were decided since the last commit, with their effects.
  struct Burst {
    /// The state after the decisions, or `nil` before the first entry.
    ///
    /// It becomes the decided state with the commit: a written state never contains an action whose effect has not
    /// started.
    var now: DecidedState<State>?
    struct Decision {
      let entry: ReplicaEntry<Action>
      let error: (any Error)?
    }

    /// The effect of an own action.
    struct Start {
      let number: Int
      let effect: Effect<Action>
    }

    var decisions: [Decision] = []
    var effects: [Start] = []
    /// The number of decisions about actions of other replicas.
    var foreign = 0
    /// The state to write as a snapshot.
    var snapshot: DecidedState<State>?
  }

  let store: Store<State, Action>
  let sending: SendSide<State, Action>
  let confirmed: PublishedProperty<State>
  let progress: PublishedProperty<ReplicaProgress>
  let entries = BroadcastSource<ReplicaEntry<Action>>()
  let troubles: HeldUpdates<ReplicaTrouble>
  let log: any ReplicaLog
  /// The state after the last commit.
  let decided: Lock<DecidedState<State>>
  /// The number of the last action of the outbox that was decided before the last commit.
  let settled: Lock<Int>
  let reading: Lock<LogReading<State>>
  let keeping: StateFile<State>?
  let snapshots: SnapshotWriter<State>
  let verifier: SnapshotVerifier<State>
  /// The number of the first pending action, or of the next action, or 0 after the end.
  let undecided: PublishedProperty<Int>
  let retryInterval: DispatchTimeInterval
  /// The time after which a log that reports lost entries is queried again.
  let confirmationInterval: DispatchTimeInterval
  let decoder = makeDecoder()
  let isChecking = Lock(false)
  /// The number of calls that want to send entries.
  let turns = Lock(0)
  private let initial: DecidedState<State>
  private let bag = SubscriptionBag()
  private let events = Lock(Events())

  init(
    _ store: Store<State, Action>, _ sending: SendSide<State, Action>, _ log: any ReplicaLog,
    _ kept: KeptState<State>, initial: State, keeping: StateFile<State>?,
    verifies: Bool, retryAfter interval: Int
  ) {
    (self.store, self.sending, self.log) = (store, sending, log)
    self.keeping = keeping
    retryInterval = .nanoseconds(interval)
    confirmationInterval = .nanoseconds(min(interval, 2_000_000_000))
    let decided = kept.decided
    troubles = HeldUpdates(on: sending.queue, limit: 100)
    snapshots = SnapshotWriter(to: log, reportingTo: troubles)
    self.decided = Lock(decided)
    settled = Lock(kept.settled)
    self.initial = DecidedState(initial)
    reading = Lock(LogReading())
    confirmed = PublishedProperty(decided.state)
    var first = ReplicaProgress()
    first.sequence = decided.sequence
    let pending = sending.pending.withLock { $0 }
    (first.pending, first.oldestPending) = (pending.waiting.count, pending.waiting.first?.date)
    progress = PublishedProperty(first)
    undecided = PublishedProperty(pending.undecided)
    verifier = SnapshotVerifier(of: log, verifies: verifies)
  }

  func start() {
    sending.onWake { [weak self] in
      self?.pump()
    } send: { [weak self] in
      self?.sendEntries()
    }
    verifier.start { [weak self] sequence in
      self?.sending.queue.async { [weak self] in
        guard let self, !sending.pending.withLock({ $0.isClosed }) else { return }
        var burst = Burst()
        stop(.diverged(at: sequence), &burst)
      }
    }
    let following = verifier.stored.publisher.subscribe { [weak self] _ in
      self?.sending.queue.async { [weak self] in self?.publishProgress() }
    }
    following.store(in: bag)
    read(from: nil)
  }

  /// Stops reading and sending.
  ///
  /// Runs on any thread.
  func close(because trouble: ReplicaTrouble? = nil) {
    let old = reading.withLock { $0.stop() }
    for subscription in old { subscription?.invalidate() }
    verifier.end()
    bag.invalidate()
    sending.close(because: trouble)
    sending.queue.async { [self] in
      var last = progress.value
      (last.phase, last.trouble) = (.stopped, last.trouble ?? trouble)
      progress.value = last
      undecided.value = 0
      keeping?.write(kept)
      entries.end()
      troubles.end()
      sending.rejections.end()
      sending.releaseFile()
    }
  }

  /// Stops because of a trouble.
  func stop(_ trouble: ReplicaTrouble, _ burst: inout Burst) {
    commit(&burst)
    troubles.broadcast(trouble)
    close(because: trouble)
  }

  /// The state to write.
  ///
  /// The number is read first, so that the state contains its actions.
  var kept: KeptState<State> {
    let number = settled.withLock { $0 }
    return KeptState(decided: decided.withLock { $0 }, settled: number)
  }

  /// Queues an event of the log, on any thread.
  func take(_ event: ReplicaLogEvent, of reading: Int) {
    let mustSchedule = events.withLock { events in
      events.queue.append((event, reading))
      defer { events.isScheduled = true }
      return !events.isScheduled
    }
    if mustSchedule { sending.queue.async { [weak self] in self?.process() } }
  }

  /// A Boolean value that indicates whether the log has disconnected, and the queue has not processed that yet.
  var hasUnreadDisconnection: Bool {
    events.withLock { events in
      events.queue.contains { if case .disconnected = $0.event { true } else { false } }
    }
  }

  private func process() {
    while true {
      let next = events.withLock { events in
        defer { events.queue = [] }
        events.isScheduled = !events.queue.isEmpty
        return events.queue
      }
      if next.isEmpty { return }
      var burst = Burst()
      for (event, number) in next where reading.withLock({ $0.isCurrent(number) }) {
        if sending.pending.withLock({ $0.isClosed }) { return }
        process(event, &burst)
      }
      commit(&burst)
      pump()
    }
  }

  private func process(_ event: ReplicaLogEvent, _ burst: inout Burst) {
    switch event {
    case .connected(let state):
      commit(&burst)
      // The log may begin again without a loss.
      reading.withLock { $0.mustCompare() }
      sending.pending.withLock { $0.hasDisconnected() }
      publishProgress()
      let (hasIgnored, candidate) = reading.withLock { ($0.hasIgnored, $0.candidate) }
      if hasIgnored { read(from: candidate) } else { compare(with: state, initial) }
    case .disconnected:
      commit(&burst)
      reading.withLock { $0.mustCompare() }
      sending.pending.withLock { $0.hasDisconnected() }
      publishProgress()
    case .entry(let entry):
      // The entries of a connection that differs are not applied.
      let isIgnored = reading.withLock { reading in
        reading.hasIgnored = reading.hasIgnored || !reading.isCompared
        return !reading.isCompared
      }
      if isIgnored { return }
      decide(entry, &burst)
      if burst.decisions.count >= 256 { commit(&burst) }
    case .current:
      commit(&burst)
      reading.withLock { $0.hasReadAll() }
      dropLost()
    case .unsuitable(let reason): stop(.unsuitable(reason), &burst)
    }
  }
}
