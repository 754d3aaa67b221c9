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
    let next = decided.withLock { $0.sequence } + 1
    if logged.sequence < next { return }
    if logged.sequence > next, !mayPass(next..<logged.sequence, &burst) { return }
    let lines = logged.message.payload.split(separator: UInt8(ascii: "\n"))
    // A stranger's message is skipped by all replicas.
    guard let header = EntryHeader(logged.message.header), !lines.isEmpty else {
      decided.withLock { $0.position = LogPosition(logged) }
      return troubles.broadcast(.stranger(sequence: logged.sequence))
    }
    if header.origin == sending.origin,
      sending.pending.withLock({ $0.contradict(header.number, lines) })
    {
      return stop(.originInUse, &burst)
    }
    let actions: [Action]
    do {
      actions = try lines.map { try decoder.decode(Action.self, from: $0) }
    } catch {
      // A newer version sent it, and continues there.
      return stop(.undecodable(sequence: logged.sequence, reason: "\(error)"), &burst)
    }
    // Reducers are user code, so a copy of the state is changed outside the lock.
    var now = decided.withLock { $0 }
    defer { decided.withLock { swap(&$0, &now) } }
    now.position = LogPosition(logged)
    switch now.table.accept(header, lines: lines.count, at: logged.time) {
    case .duplicate: break
    case .gap:
      if header.origin == sending.origin {
        sending.pending.withLock { $0.resend(always: false) }
      }
    case .decide(let count):
      let before = now.count
      now.count += actions.count - count
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
          sequence: logged.sequence, origin: header.origin, number: header.number + index,
          action: action, isAccepted: failure == nil)
        burst.decisions.append(Burst.Decision(entry: entry, effect: effect, error: failure))
      }
      if snapshots.isDue(at: now.count, after: before) {
        now.table.prune(at: logged.time)
        verifier.note(now)
        if header.origin == sending.origin { burst.snapshot = now }
      }
    }
  }
}
