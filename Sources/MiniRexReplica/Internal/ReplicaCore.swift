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
/// All methods except `take` run on the queue of the send side, so `decided` is never contended.
final class ReplicaCore<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  private struct Events: Sendable {
    var queue: [ReplicaLogEvent] = []
    var isScheduled = false
  }

  /// Actions that were decided since the last commit, with their effects.
  private struct Burst {
    struct Decision {
      let entry: ReplicaEntry<Action>
      let effect: Effect<Action>
      let error: (any Error)?
    }

    var decisions: [Decision] = []
  }

  let store: Store<State, Action>
  let sending: SendSide<State, Action>
  let confirmed: PublishedProperty<State>
  let progress: PublishedProperty<ReplicaProgress>
  let entries = BroadcastSource<ReplicaEntry<Action>>()
  private let log: any ReplicaLog
  private let decided: Lock<DecidedState<State>>
  private let keeping: StateFile<State>?
  private let retryInterval: DispatchTimeInterval
  private let decoder = makeDecoder()
  private let events = Lock(Events())
  private let reading = Lock<Subscription?>(nil)
  private let isChecking = Lock(false)

  init(
    _ store: Store<State, Action>, _ sending: SendSide<State, Action>, _ log: any ReplicaLog,
    _ decided: DecidedState<State>, keeping: StateFile<State>?,
    retryAfter interval: DispatchTimeInterval
  ) {
    (self.store, self.sending, self.log) = (store, sending, log)
    (self.keeping, retryInterval) = (keeping, interval)
    self.decided = Lock(decided)
    confirmed = PublishedProperty(decided.state)
    var first = ReplicaProgress()
    first.sequence = decided.sequence
    first.pending = sending.pending.withLock { $0.actions.count }
    progress = PublishedProperty(first)
  }

  func start() {
    sending.onWake { [weak self] in self?.pump() }
    let sequence = decided.withLock { $0.sequence }
    let subscription = log.entries(after: sequence).subscribe { [weak self] event in
      self?.take(event)
    }
    reading.withLock { $0 = subscription }
  }

  /// Stops reading and sending.
  ///
  /// Runs on any thread.
  func close() {
    reading.withLock { $0.take() }?.invalidate()
    sending.close()
    sending.queue.async { [self] in
      progress.value.phase = .stopped
      keeping?.write(decided.withLock { $0 })
      entries.end()
      sending.releaseFile()
    }
  }

  private func take(_ event: ReplicaLogEvent) {
    let mustSchedule = events.withLock { events in
      events.queue.append(event)
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
      for event in next {
        if sending.pending.withLock({ $0.isClosed }) { return }
        switch event {
        case .connected:
          commit(&burst)
          sending.pending.withLock { $0.hasConnected() }
          progress.value.phase = .connected
          pump()
        case .disconnected:
          commit(&burst)
          sending.pending.withLock { $0.hasDisconnected() }
          progress.value.phase = .offline
        case .entry(let sequence, let message):
          decide(message, at: sequence, &burst)
          if burst.decisions.count >= 256 { commit(&burst) }
        }
      }
      commit(&burst)
      pump()
    }
  }

  // MARK: Deciding

  private func decide(_ message: ReplicaMessage, at sequence: UInt64, _ burst: inout Burst) {
    let lines = message.payload.split(separator: UInt8(ascii: "\n"))
    // A stranger's message is skipped by all replicas.
    guard let header = EntryHeader(message.header), !lines.isEmpty else {
      return decided.withLock { $0.sequence = sequence }
    }
    // A newer version sent it, and continues there.
    guard let actions = try? lines.map({ try decoder.decode(Action.self, from: $0) }) else {
      commit(&burst)
      return close()
    }
    // Reducers are user code, so the state is taken out of the lock.
    var now = decided.withLock { $0 }
    defer { decided.withLock { swap(&$0, &now) } }
    now.sequence = sequence
    switch now.table.accept(header, lines: lines.count) {
    case .duplicate: break
    case .gap:
      if header.origin == sending.origin {
        sending.pending.withLock { $0.resend(always: false) }
      }
    case .decide(let count):
      for (index, action) in actions.enumerated().dropFirst(count) {
        var effect = Effect<Action>.none
        var failure: (any Error)?
        do {
          try sending.validate(now.state, action)
          effect = sending.reducer(&now.state, action)
        } catch {
          failure = error
        }
        let entry = ReplicaEntry(
          sequence: sequence, origin: header.origin, number: header.number + index, action: action,
          isAccepted: failure == nil)
        burst.decisions.append(Burst.Decision(entry: entry, effect: effect, error: failure))
      }
    }
  }

  // MARK: Rebasing

  /// Replaces the state by the decided state and the pending actions.
  ///
  /// Confirmations of pending actions, in order, leave the state as it is.
  private func commit(_ burst: inout Burst) {
    let decisions = burst.decisions
    burst.decisions = []
    if decisions.isEmpty { return publishProgress() }
    let own = sending.origin
    let (state, last) = decided.withLock { ($0.state, $0.table.last(of: own)) }
    var removed: ArraySlice<PendingAction<Action>> = []
    var before = 0
    store.rebase { current in
      // Exclusive access to the store keeps local actions out.
      let (pending, foreign) = sending.pending.withLock { all in
        before = all.foreign
        removed = all.removeFirst(through: last)
        let numbers = Set(removed.map(\.number))
        let foreign = decisions.count {
          $0.entry.origin != own || !numbers.contains($0.entry.number)
        }
        all.foreign += foreign
        return (all.actions, foreign)
      }
      // A kill after this line repeats no effect.
      if !removed.isEmpty { sending.settle(through: last) }
      let sent = Set(removed.map(\.number))
      let effects = decisions.compactMap { decision in
        decision.entry.origin == own && sent.contains(decision.entry.number)
          ? decision.effect : nil
      }
      let isExact = foreign == 0 && decisions.count == removed.count
      if isExact { return (nil, effects) }
      current = state
      for action in pending where (try? sending.validate(current, action.action)) != nil {
        _ = sending.reducer(&current, action.action)
      }
      return (.change("rebased: \(decisions.count) decided, \(pending.count) pending"), effects)
    }
    confirmed.value = state
    publishProgress()
    finish(removed, decisions, foreign: before)
    keeping?.writeIfDue(decided.withLock { $0 })
  }

  /// Finishes the tasks of the decided actions.
  ///
  /// - Parameter foreign: The number of foreign actions before the burst.
  private func finish(
    _ removed: ArraySlice<PendingAction<Action>>, _ decisions: [Burst.Decision], foreign: Int
  ) {
    var foreign = foreign
    var rest = removed
    for decision in decisions {
      entries.broadcast(decision.entry)
      guard decision.entry.origin == sending.origin, let action = rest.first,
        action.number <= decision.entry.number
      else {
        foreign += 1
        continue
      }
      // The log has lost entries, and a later entry settled these.
      while let lost = rest.first, lost.number < decision.entry.number {
        rest.removeFirst()
        lost.source?.finish(.failure(.unresolved))
      }
      guard let action = rest.popFirst() else { continue }
      if let error = decision.error {
        action.source?.finish(.failure(.rejected(error)))
        if action.source == nil {
          sending.rejections.broadcast(Rejection(action: action.action, error: .rejected(error)))
        }
      } else {
        action.source?.finish(
          .success(
            Confirmation(
              sequence: decision.entry.sequence, overtakenBy: foreign - action.foreign)))
      }
    }
    for lost in rest { lost.source?.finish(.failure(.unresolved)) }
  }

  private func publishProgress() {
    var new = progress.value
    new.sequence = decided.withLock { $0.sequence }
    new.pending = sending.pending.withLock { $0.actions.count }
    if new != progress.value { progress.value = new }
  }
}

extension ReplicaCore {
  // MARK: Sending

  private func pump() {
    while let (message, connection) = takeEntry() {
      log.append(message).subscribe { [weak self] _ in
        guard let self else { return }
        // After a failure, the check sends again: a later entry may have been accepted.
        sending.pending.withLock { $0.hasAnswered(over: connection) }
        sending.wake()
      }.detached()
    }
    publishProgress()
    checkLater()
  }

  private func takeEntry() -> (ReplicaMessage, connection: Int)? {
    sending.pending.withLock { pending in
      pending.takeEntry(of: sending.origin).map { ($0, pending.connection) }
    }
  }

  /// Sends again if no action is decided for an interval.
  private func checkLater() {
    let first = sending.pending.withLock { $0.isConnected ? $0.actions.first?.number : nil }
    guard let first else { return }
    let isFirst = isChecking.withLock { isChecking in
      defer { isChecking = true }
      return !isChecking
    }
    if !isFirst { return }
    sending.queue.asyncAfter(deadline: .now() + retryInterval) { [weak self] in
      guard let self else { return }
      isChecking.withLock { $0 = false }
      sending.pending.withLock { pending in
        if pending.actions.first?.number == first { pending.resend(always: true) }
      }
      pump()
    }
  }
}
