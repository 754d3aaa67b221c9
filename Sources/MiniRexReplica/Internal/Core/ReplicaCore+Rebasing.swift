internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ReplicaCore {
  /// Replaces the state by the decided state and the pending actions, and starts the effects.
  ///
  /// Confirmations of pending actions, in order, do not change the state. After the end, it does nothing: the next
  /// replica decides the entries.
  func commit(_ burst: inout Burst) {
    guard let now = burst.now else { return publishProgress() }
    let (decisions, foreign, snapshot) = (burst.decisions, burst.foreign, burst.snapshot)
    let starts = burst.effects
    burst = Burst()
    let last = now.table.last(of: sending.origin)
    // Removing the decided actions is the point of no return: after a concurrent end, either all of them are pending,
    // or none.
    let removed = sending.pending.withLock { pending in
      pending.isClosed ? nil : pending.removeFirst(through: last)
    }
    guard let removed else { return }
    let effects = effects(of: starts, for: removed)
    if !removed.isEmpty {
      do throws(OutboxFailure) {
        // A kill after this line repeats no effect.
        try sending.settle(through: last, isDurable: !effects.isEmpty)
      } catch {
        // Without effects, no record is needed: the log decides again after a restart.
        if !effects.isEmpty { return abandon(removed, because: error) }
      }
    }
    if let snapshot { snapshots.write(snapshot) }
    let before = rebase(on: now.state, decisions, foreign: foreign, removed, effects)
    hasDecided(now, through: last)
    if decisions.isEmpty, removed.isEmpty { return publishProgress() }
    confirmed.value = now.state
    publishProgress()
    finish(removed, decisions, foreign: before)
    keepLater()
  }

  /// The effects of the actions that this process has sent.
  private func effects(
    of starts: [Burst.Start], for removed: ArraySlice<PendingAction>
  ) -> [Effect<Action>] {
    if starts.isEmpty { return [] }
    let sent = removed.numbers()
    let settled = sending.pending.withLock { $0.settled }
    return starts.compactMap { start in
      start.number > settled && sent.contains(start.number) ? start.effect : nil
    }
  }

  /// Replaces the state of the store, unless the decisions confirm it, and starts the effects.
  ///
  /// - Returns: The number of foreign actions before the burst.
  private func rebase(
    on state: State, _ decisions: [Burst.Decision], foreign: Int,
    _ removed: ArraySlice<PendingAction>, _ effects: [Effect<Action>]
  ) -> Int {
    if decisions.isEmpty, removed.isEmpty { return 0 }
    var before = 0
    store.rebase { current in
      // Exclusive access to the store keeps local actions out.
      let (actions, waiting) = sending.pending.withLock { pending in
        before = pending.foreign
        pending.foreign += foreign
        return (pending.actions, pending.waiting.count)
      }
      let isExact =
        foreign == 0 && decisions.count == removed.count
        && decisions.first?.entry.number == removed.first?.number
      if isExact { return (nil, effects) }
      current = state
      sending.replay(actions, on: &current)
      return (.rebased(decided: decisions.count, pending: waiting), effects)
    }
    return before
  }

  /// Stops before effects whose decision cannot be recorded: they could run again.
  private func abandon(
    _ removed: ArraySlice<PendingAction>, because failure: OutboxFailure
  ) {
    let trouble = ReplicaTrouble.notSynchronized("\(failure)")
    var burst = Burst()
    stop(trouble, &burst)
    for action in removed { action.source?.finish(.failure(.stopped(trouble))) }
  }

  /// Publishes a state for the other threads, and for the file.
  private func hasDecided(_ now: DecidedState<State>, through number: Int) {
    let old = decided.withLock { decided in
      defer { decided = now }
      return decided
    }
    // The state is released outside the lock.
    withExtendedLifetime(old) {}
    settled.withLock { $0 = max($0, number) }
  }

  private func keepLater() {
    keeping?.writeLater { [weak self] in
      guard let self, !sending.pending.withLock({ $0.isClosed }) else { return nil }
      return kept
    }
  }

  /// Finishes the tasks of the decided actions.
  ///
  /// - Parameter foreign: The number of foreign actions before the burst.
  private func finish(
    _ removed: ArraySlice<PendingAction>, _ decisions: [Burst.Decision], foreign: Int
  ) {
    var foreign = foreign
    var place = removed.startIndex
    for decision in decisions {
      entries.broadcast(decision.entry)
      let number = decision.entry.number
      guard decision.entry.origin == sending.origin, place < removed.endIndex,
        removed[place].number <= number
      else {
        // A log that went back is read again, with actions that were decided here before.
        if decision.entry.origin != sending.origin { foreign += 1 }
        continue
      }
      // The log has lost entries, and a later entry settled these.
      while place < removed.endIndex, removed[place].number < number {
        fail(removed[place], .unresolved)
        place += 1
      }
      if place == removed.endIndex { continue }
      if let error = decision.error {
        fail(removed[place], .rejected(error))
      } else {
        removed[place].source?.finish(
          .success(
            ReplicaConfirmation(
              sequence: decision.entry.sequence, overtakenBy: foreign - removed[place].foreign)))
      }
      place += 1
    }
    for lost in removed[place...] { fail(lost, .unresolved) }
  }

  private func fail(_ action: PendingAction, _ error: ReplicaError) {
    // An earlier process has reported the decision.
    if action.number <= sending.pending.withLock({ $0.settled }) { return }
    for record in sending.undoRecords { record.remove(action.number) }
    if let source = action.source {
      source.finish(.failure(error))
    } else {
      sending.rejections.broadcast(
        Rejection(action: unboxed(action.box, as: Action.self), error: error),
        isHeld: action.isRestored)
    }
  }

  /// Replaces the decided state by a state of the log that does not follow from it.
  ///
  /// The decisions between them are unknown here, so their tasks fail, and their effects do not run.
  ///
  /// - Parameter settled: The number of the last action that fails because its decision is unknown.
  func adopt(_ new: DecidedState<State>, settling settled: Int = 0) {
    let last = max(settled, new.table.last(of: sending.origin))
    let count = max(0, new.count - decided.withLock { $0.count })
    let removed = sending.pending.withLock { pending in
      pending.isClosed ? nil : pending.removeFirst(through: last)
    }
    guard let removed else { return }
    // The effects of these actions do not run, so a failed record repeats none.
    if !removed.isEmpty { try? sending.settle(through: last, isDurable: false) }
    store.rebase { current in
      let (actions, waiting) = sending.pending.withLock { pending in
        pending.foreign += max(0, count - removed.count)
        return (pending.actions, pending.waiting.count)
      }
      current = new.state
      sending.replay(actions, on: &current)
      return (.rebased(decided: count, pending: waiting), [])
    }
    hasDecided(new, through: last)
    confirmed.value = new.state
    publishProgress()
    for action in removed { fail(action, .unresolved) }
    keeping?.write(kept)
  }

  /// Removes the actions that an earlier process has decided, and that the log has lost since.
  func dropLost() {
    let pending = sending.pending.withLock { $0 }
    if pending.hasSettled, reading.withLock({ $0.isCurrent }) {
      adopt(decided.withLock { $0 }, settling: pending.settled)
    }
  }

  func publishProgress() {
    let number = sending.pending.withLock { $0.isClosed ? nil : $0.undecided }
    guard let number else { return }
    let new = madeProgress(after: progress.value)
    // Published even if it is equal: a subscriber may have received a later state already.
    progress.modify { $0 = new }
    if number != undecided.value { undecided.value = number }
  }

  /// The progress, with the sends and the disconnection since it was published, on any thread.
  ///
  /// A decision counts when it is published, after the confirmed state.
  ///
  /// - Parameter last: The progress that was published last.
  func presentProgress(after last: ReplicaProgress) -> ReplicaProgress {
    var new = last
    let (isClosed, count, oldest) = sending.pending.withLock {
      ($0.isClosed, $0.waiting.count, $0.waiting.first?.date)
    }
    if isClosed { return last }
    new.pending = max(last.pending, count)
    new.oldestPending = last.oldestPending ?? oldest
    if hasUnreadDisconnection || !reading.withLock({ $0.isCompared }) { new.phase = .offline }
    return new
  }

  private func madeProgress(after last: ReplicaProgress) -> ReplicaProgress {
    var new = last
    new.sequence = decided.withLock { $0.sequence }
    (new.pending, new.oldestPending) = sending.pending.withLock {
      ($0.waiting.count, $0.waiting.first?.date)
    }
    reading.withLock { reading in
      new.phase =
        !reading.isCompared ? .offline : reading.isCurrent ? .current : .catchingUp
      new.behind = reading.isCompared ? max(reading.end, new.sequence) - new.sequence : 0
    }
    new.snapshotTime = verifier.stored.value.map {
      Date(timeIntervalSince1970: Double($0.time) / 1_000_000_000)
    }
    if hasUnreadDisconnection { new.phase = .offline }
    return new
  }
}
