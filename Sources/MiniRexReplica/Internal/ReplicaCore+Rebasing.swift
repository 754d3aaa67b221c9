internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ReplicaCore {
  /// Replaces the state by the decided state and the pending actions.
  ///
  /// Confirmations of pending actions, in order, leave the state as it is.
  func commit(_ burst: inout Burst) {
    let decisions = burst.decisions
    burst.decisions = []
    if let snapshot = burst.snapshot.take() { snapshots.write(snapshot) }
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
        let foreign = decisions.count { $0.entry.origin != own }
        all.foreign += foreign
        return (all.actions, foreign)
      }
      // A kill after this line repeats no effect.
      if !removed.isEmpty { sending.settle(through: last) }
      let sent = removed.numbers()
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
      return (.rebased(decided: decisions.count, pending: pending.count), effects)
    }
    confirmed.value = state
    publishProgress()
    finish(removed, decisions, foreign: before)
    keeping?.writeLater { [weak self] in
      guard let self, !sending.pending.withLock({ $0.isClosed }) else { return nil }
      return decided.withLock { $0 }
    }
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
        // A log that went back is read again, with actions that were decided here before.
        if decision.entry.origin != sending.origin { foreign += 1 }
        continue
      }
      // The log has lost entries, and a later entry settled these.
      while let lost = rest.first, lost.number < decision.entry.number {
        rest.removeFirst()
        fail(lost, .unresolved)
      }
      guard let action = rest.popFirst() else { continue }
      if let error = decision.error {
        fail(action, .rejected(error))
      } else {
        action.source?.finish(
          .success(
            ReplicaConfirmation(
              sequence: decision.entry.sequence, overtakenBy: foreign - action.foreign)))
      }
    }
    for lost in rest { fail(lost, .unresolved) }
  }

  private func fail(_ action: PendingAction<Action>, _ error: ReplicaError) {
    for record in sending.undo.withLock({ $0 }) { record.remove(action.number) }
    if let source = action.source {
      source.finish(.failure(error))
    } else {
      sending.rejections.broadcast(Rejection(action: action.action, error: error))
    }
  }

  /// Replaces the decided state by a state of the log that does not follow from it.
  ///
  /// The decisions between them are unknown here, so their tasks fail, and their effects do not run.
  ///
  /// - Parameter settled: The number of the last action that fails because its decision is unknown.
  func adopt(_ new: DecidedState<State>, settling settled: Int = 0) {
    let old = decided.withLock { decided in
      defer { decided = new }
      return decided
    }
    let last = max(settled, new.table.last(of: sending.origin))
    var removed: ArraySlice<PendingAction<Action>> = []
    let count = max(0, new.count - old.count)
    store.rebase { current in
      let pending = sending.pending.withLock { all in
        removed = all.removeFirst(through: last)
        all.foreign += max(0, count - removed.count)
        return all.actions
      }
      if !removed.isEmpty { sending.settle(through: last) }
      current = new.state
      for action in pending where (try? sending.validate(current, action.action)) != nil {
        _ = sending.reducer(&current, action.action)
      }
      return (.rebased(decided: count, pending: pending.count), [])
    }
    confirmed.value = new.state
    publishProgress()
    for action in removed { fail(action, .unresolved) }
    keeping?.write(new)
  }

  func publishProgress() {
    var new = progress.value
    new.sequence = decided.withLock { $0.sequence }
    (new.pending, new.oldestPending) = sending.pending.withLock {
      ($0.actions.count, $0.actions.first?.date)
    }
    reading.withLock { reading in
      new.phase =
        !reading.isCompared ? .offline : reading.isCurrent ? .current : .catchingUp
      new.behind = reading.isCompared ? max(reading.end, new.sequence) - new.sequence : 0
    }
    new.snapshotTime = verifier.stored.value.map {
      Date(timeIntervalSince1970: Double($0.time) / 1_000_000_000)
    }
    let (isClosed, number) = sending.pending.withLock { ($0.isClosed, $0.undecided) }
    if isClosed { return }
    if new != progress.value { progress.value = new }
    if number != undecided.value { undecided.value = number }
  }
}
