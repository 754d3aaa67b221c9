internal import MiniRex
internal import MiniRexJournal
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ReplicaCore {
  func decide(_ logged: ReplicaLogEntry, _ burst: inout Burst) {
    let last = (burst.now?.sequence) ?? decided.withLock { $0.sequence }
    if logged.sequence <= last { return }
    if logged.sequence - last > 1, !mayPass(last + 1..<logged.sequence, &burst) { return }
    let lines = logged.message.payload.split(separator: UInt8(ascii: "\n"))
    // A stranger's message is skipped by all replicas.
    guard let header = EntryHeader(logged.message.header), !lines.isEmpty else {
      burst.change(decided) { $0.position = LogPosition(logged) }
      return troubles.broadcast(.stranger(sequence: logged.sequence))
    }
    var known: ArraySlice<PendingAction>?
    if header.origin == sending.origin {
      switch sending.pending.withLock({ $0.compare(header.number, lines) }) {
      case .contradiction: return stop(.originInUse, &burst)
      case .known(let actions): known = actions
      case .unknown: break
      }
    }
    let actions: [Action]
    do {
      // A replica that verifies also finds actions that other replicas cannot decode.
      let decoded =
        known == nil || verifier.verifies
        ? try lines.map { try decoder.decode(Action.self, from: $0) } : []
      actions = known?.map { $0.action(as: Action.self) } ?? decoded
    } catch {
      // A newer version of the program sent the actions. Replicas of that version continue.
      return stop(.undecodable(sequence: logged.sequence, reason: "\(error)"), &burst)
    }
    var snapshot: DecidedState<State>?
    let decisions = burst.change(decided) { now in
      let before = now.count
      let (decisions, isGap) = decide(actions, header, logged, &now)
      if isGap, header.origin == sending.origin {
        sending.pending.withLock { $0.resend(always: false) }
      }
      if snapshots.isDue(at: now.count, after: before) {
        now.table.prune(at: logged.time)
        verifier.note(now)
        if header.origin == sending.origin { snapshot = now }
      }
      return decisions
    }
    burst.decisions += decisions
    if let snapshot { burst.snapshot = snapshot }
  }

  private func decide(
    _ actions: [Action], _ header: EntryHeader, _ logged: ReplicaLogEntry,
    _ now: inout DecidedState<State>
  ) -> (decisions: [Burst.Decision], isGap: Bool) {
    now.position = LogPosition(logged)
    switch now.table.accept(header, lines: actions.count, at: logged.time) {
    case .duplicate: return ([], false)
    case .gap: return ([], true)
    case .decide(let count):
      now.count += actions.count - count
      let decisions = actions.enumerated().dropFirst(count).map { index, action in
        var effect = Effect<Action>.none
        var failure: (any Error)?
        do {
          try sending.validate(now.state, action)
          effect = sending.reducer(&now.state, action)
        } catch {
          failure = error
        }
        let entry = ReplicaEntry(
          sequence: logged.sequence, origin: header.origin, number: header.number + index,
          action: action, isAccepted: failure == nil)
        return Burst.Decision(entry: entry, effect: effect, error: failure)
      }
      return (decisions, false)
    }
  }
}

extension ReplicaCore.Burst {
  /// Changes the state in place.
  ///
  /// The first change of a burst begins with the decided state.
  mutating func change<Result>(
    _ decided: borrowing Lock<DecidedState<State>>, _ change: (inout DecidedState<State>) -> Result
  ) -> Result {
    var state = now.take() ?? decided.withLock { $0 }
    defer { now = state }
    return change(&state)
  }
}
