internal import CLibrary
internal import Dispatch
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A decided state in a file.
struct KeptState<State: Codable & Sendable>: Codable, Sendable {
  var decided: DecidedState<State>
  /// The number of the last action of the outbox that was decided.
  ///
  /// A log that went back may have lost it, and then the state does not contain it.
  var settled = 0
}

/// The last decided state of a replica, in a file that is replaced as a unit.
///
/// It is written a second after a change, and takes at most a twentieth of the time. After a kill it is old by that time,
/// and the outbox and the log have the rest.
final class StateFile<State: Codable & Sendable>: Sendable {
  private let folder: String
  private let durability: ReplicaDurability
  /// Runs after a write, with the number of the last action of the outbox that was decided.
  private let hasWritten: @Sendable (Int) -> Void
  private let queue = DispatchQueue(label: "MiniRexReplica.state")
  private let isScheduled = Lock(false)
  /// The time that the last write took, in nanoseconds.
  private let cost = Lock(0)

  /// The state in the file, or `nil` without a readable file.
  let restored: KeptState<State>?

  init(
    in folder: String, _ durability: ReplicaDurability,
    hasWritten: @escaping @Sendable (Int) -> Void
  ) {
    (self.folder, self.durability, self.hasWritten) = (folder, durability, hasWritten)
    restored = FileManager.default.contents(atPath: folder + "/state").flatMap {
      try? makeDecoder().decode(KeptState<State>.self, from: $0)
    }
  }

  /// Writes the state that the closure returns after a delay, unless it returns `nil`.
  ///
  /// Has no effect during the delay of an earlier call.
  func writeLater(_ state: @escaping @Sendable () -> KeptState<State>?) {
    let isFirst = isScheduled.withLock { isScheduled in
      defer { isScheduled = true }
      return !isScheduled
    }
    if !isFirst { return }
    let delay = max(1_000_000_000, 20 * cost.withLock { $0 })
    queue.asyncAfter(deadline: .now() + .nanoseconds(delay)) { [weak self] in
      guard let self else { return }
      isScheduled.withLock { $0 = false }
      guard let state = state() else { return }
      let start = DispatchTime.now().uptimeNanoseconds
      replace(state)
      cost.withLock { $0 = Int(DispatchTime.now().uptimeNanoseconds - start) }
    }
  }

  /// Writes the state, after a write that is in progress.
  func write(_ state: KeptState<State>) { queue.sync { replace(state) } }

  /// A failure is harmless: the outbox keeps its actions, and the log is read again.
  private func replace(_ state: KeptState<State>) {
    guard let data = try? makeEncoder().encode(state) else { return }
    do throws(JournalFailure) {
      _ = try replaceFile(folder + "/state", with: [UInt8](data)) { file throws(JournalFailure) in
        try durability.files?(file)
      }
      if let synchronize = durability.files { try synchronizeFolder(folder, with: synchronize) }
    } catch { return }
    hasWritten(state.settled)
  }
}
