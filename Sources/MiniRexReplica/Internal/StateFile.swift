internal import Dispatch
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The last decided state of a replica, in a file that is replaced as a unit.
///
/// It is written a second after a change, and takes at most a twentieth of the time. After a kill it is old by that time,
/// and the log has the rest.
final class StateFile<State: Codable & Sendable>: Sendable {
  private let path: String
  private let queue = DispatchQueue(label: "MiniRexReplica.state")
  private let isScheduled = Lock(false)
  /// The time that the last write took, in nanoseconds.
  private let cost = Lock(0)

  /// The state in the file, or `nil` without a readable file.
  let restored: DecidedState<State>?

  init(in folder: String) {
    path = folder + "/state"
    restored = FileManager.default.contents(atPath: path).flatMap {
      try? makeDecoder().decode(DecidedState<State>.self, from: $0)
    }
  }

  /// Writes the state later, which a closure then returns, or `nil` after the end.
  func writeLater(_ state: @escaping @Sendable () -> DecidedState<State>?) {
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
  func write(_ state: DecidedState<State>) { queue.sync { replace(state) } }

  /// A failure is harmless: the log is read again.
  private func replace(_ state: DecidedState<State>) {
    // One name, so that a kill leaves at most one file, which the next write replaces.
    let new = path + ".new"
    guard let data = try? makeEncoder().encode(state),
      (try? data.write(to: URL(filePath: new))) != nil
    else { return }
    _ = unsafe rename(new, path)
  }
}
