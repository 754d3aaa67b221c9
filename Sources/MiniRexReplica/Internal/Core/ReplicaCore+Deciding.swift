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
    let header = EntryHeader(logged.message.header)
    var known: [AnyActionBox]?
    if let header, header.origin == sending.origin {
      known = sending.pending.withLock {
        $0.boxes(from: header.number, in: logged.message.payload)
      }
    }
    // A replica that verifies also finds actions that other replicas cannot decode.
    if let header, let known, !verifier.verifies {
      return decide(actions(in: known), header, logged, &burst)
    }
    let lines = logged.message.payload.split(separator: UInt8(ascii: "\n"))
    // A stranger's message is skipped by all replicas.
    guard let header, !lines.isEmpty else {
      var now = burst.takeState(decided)
      now.position = LogPosition(logged)
      burst.now = now
      return troubles.broadcast(.stranger(sequence: logged.sequence))
    }
    if known == nil, header.origin == sending.origin,
      sending.pending.withLock({ $0.contradicts(header.number, lines) })
    {
      return stop(.originInUse, &burst)
    }
    let decoded: [Action]
    do {
      decoded = try lines.map { try decoder.decode(Action.self, from: $0) }
    } catch {
      // A newer version of the program sent the actions. Replicas of that version continue.
      return stop(.undecodable(sequence: logged.sequence, reason: "\(error)"), &burst)
    }
    decide(known.map { actions(in: $0) } ?? decoded, header, logged, &burst)
  }

  private func actions(in boxes: [AnyActionBox]) -> [Action] {
    var actions: [Action] = []
    actions.reserveCapacity(boxes.count)
    for box in boxes { actions.append(unboxed(box, as: Action.self)) }
    return actions
  }

  /// Decides the actions of an entry, and notes a snapshot if it is due.
  private func decide(
    _ actions: [Action], _ header: EntryHeader, _ logged: ReplicaLogEntry, _ burst: inout Burst
  ) {
    var now = burst.takeState(decided)
    let before = now.count
    let isGap = decide(actions, header, logged, &now, &burst)
    if isGap, header.origin == sending.origin {
      sending.pending.withLock { $0.resend(always: false) }
    }
    if snapshots.isDue(at: now.count, after: before) {
      now.table.prune(at: logged.time)
      verifier.note(now)
      if header.origin == sending.origin { burst.snapshot = now }
    }
    burst.now = now
  }

  /// - Returns: `true` if an earlier entry of the origin is missing.
  private func decide(
    _ actions: [Action], _ header: EntryHeader, _ logged: ReplicaLogEntry,
    _ now: inout DecidedState<State>, _ burst: inout Burst
  ) -> Bool {
    now.position = LogPosition(logged)
    switch now.table.accept(header, lines: actions.count, at: logged.time) {
    case .duplicate: return false
    case .gap: return true
    case .decide(let count):
      let isOwn = header.origin == sending.origin
      now.count += actions.count - count
      if !isOwn { burst.foreign += actions.count - count }
      if burst.decisions.isEmpty { burst.decisions.reserveCapacity(actions.count - count) }
      // A loop, because a closure would be called through thunks: the types of the client are unknown here.
      for index in count..<actions.count {
        let action = actions[index]
        let number = header.number + index
        var failure: (any Error)?
        do {
          try sending.validate(now.state, action)
          let effect = sending.reducer(&now.state, action)
          if isOwn, !effect.isNone {
            burst.effects.append(Burst.Start(number: number, effect: effect))
          }
        } catch {
          failure = error
        }
        let entry = ReplicaEntry(
          sequence: logged.sequence, origin: header.origin, number: number, action: action,
          isAccepted: failure == nil)
        burst.decisions.append(Burst.Decision(entry: entry, error: failure))
      }
      return false
    }
  }
}

extension ReplicaCore.Burst {
  /// Returns the state to change in place, which is the decided state before the first change.
  ///
  /// The caller stores it in `now` again.
  mutating func takeState(
    _ decided: borrowing Lock<DecidedState<State>>
  ) -> DecidedState<State> {
    now.take() ?? decided.withLock { $0 }
  }
}
