internal import Dispatch
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads the log, decides its entries in bursts, and rebases the pending actions on them.
///
/// All methods except `take` run on the queue of the send side, so `decided` and `reading` are never contended.
final class ReplicaCore<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private struct Events: Sendable {
    var queue: [(event: ReplicaLogEvent, reading: Int)] = []
    var isScheduled = false
  }

  /// Actions that were decided since the last commit, with their effects.
  struct Burst {
    struct Decision {
      let entry: ReplicaEntry<Action>
      let effect: Effect<Action>
      let error: (any Error)?
    }

    var decisions: [Decision] = []
    /// The state to write as a snapshot.
    var snapshot: DecidedState<State>?
  }

  let store: Store<State, Action>
  let sending: SendSide<State, Action>
  let confirmed: PublishedProperty<State>
  let progress: PublishedProperty<ReplicaProgress>
  let entries = BroadcastSource<ReplicaEntry<Action>>()
  let troubles = BroadcastSource<ReplicaTrouble>()
  let log: any ReplicaLog
  let decided: Lock<DecidedState<State>>
  let reading: Lock<LogReading<State>>
  let keeping: StateFile<State>?
  let snapshots: SnapshotWriter<State>
  /// `nil` if states are not compared.
  let verifier = Lock<SnapshotVerifier<State>?>(nil)
  let retryInterval: DispatchTimeInterval
  let decoder = makeDecoder()
  let isChecking = Lock(false)
  private let initial: DecidedState<State>
  private let events = Lock(Events())

  init(
    _ store: Store<State, Action>, _ sending: SendSide<State, Action>, _ log: any ReplicaLog,
    _ decided: DecidedState<State>, initial: State, keeping: StateFile<State>?,
    verifies: Bool, retryAfter interval: DispatchTimeInterval
  ) {
    (self.store, self.sending, self.log) = (store, sending, log)
    (self.keeping, retryInterval) = (keeping, interval)
    snapshots = SnapshotWriter(to: log, reportingTo: troubles)
    self.decided = Lock(decided)
    self.initial = DecidedState(initial)
    reading = Lock(LogReading())
    confirmed = PublishedProperty(decided.state)
    var first = ReplicaProgress()
    first.sequence = decided.sequence
    first.pending = sending.pending.withLock { $0.actions.count }
    progress = PublishedProperty(first)
    if !verifies || log.snapshotDistance == 0 { return }
    verifier.withLock { verifier in
      verifier = SnapshotVerifier(of: log) { [weak self] sequence in
        self?.sending.queue.async { [weak self] in
          guard let self, !sending.pending.withLock({ $0.isClosed }) else { return }
          var burst = Burst()
          stop(.diverged(at: sequence), &burst)
        }
      }
    }
  }

  func start() {
    sending.onWake { [weak self] in self?.pump() }
    verifier.withLock { $0 }?.start()
    read(from: nil)
  }

  /// Stops reading and sending.
  ///
  /// Runs on any thread.
  func close() {
    let old = reading.withLock { $0.end() }
    old?.invalidate()
    verifier.withLock { $0.take() }?.end()
    sending.close()
    sending.queue.async { [self] in
      progress.value.phase = .stopped
      keeping?.write(decided.withLock { $0 })
      entries.end()
      troubles.end()
      sending.releaseFile()
    }
  }

  /// Stops because of a trouble.
  func stop(_ trouble: ReplicaTrouble, _ burst: inout Burst) {
    commit(&burst)
    progress.value.trouble = trouble
    troubles.broadcast(trouble)
    close()
  }

  func take(_ event: ReplicaLogEvent, of reading: Int) {
    let mustSchedule = events.withLock { events in
      events.queue.append((event, reading))
      defer { events.isScheduled = true }
      return !events.isScheduled
    }
    if mustSchedule { sending.queue.async { [weak self] in self?.process() } }
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
      compare(with: state, initial)
    case .disconnected:
      commit(&burst)
      reading.withLock { $0.mustCompare() }
      sending.pending.withLock { $0.hasDisconnected() }
      progress.value.phase = .offline
    case .entry(let entry):
      // The entries of a connection that differs are not applied.
      if !reading.withLock({ $0.isCompared }) { return }
      decide(entry, &burst)
      if burst.decisions.count >= 256 { commit(&burst) }
    case .unsuitable(let reason): stop(.unsuitable(reason), &burst)
    }
  }
}
