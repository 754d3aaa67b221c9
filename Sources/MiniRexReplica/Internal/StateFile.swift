internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The last decided state of a replica, in a file that is replaced as a unit.
///
/// After a kill it is up to `distance` entries old, and the log has the rest.
final class StateFile<State: Codable & Sendable>: Sendable {
  private let path: String
  private let distance: UInt64 = 1_000
  private let written: Lock<UInt64>

  /// The state in the file, or `nil` without a readable file.
  let restored: DecidedState<State>?

  init(in folder: String) {
    path = folder + "/state"
    restored = FileManager.default.contents(atPath: path).flatMap {
      try? makeDecoder().decode(DecidedState<State>.self, from: $0)
    }
    written = Lock(restored?.sequence ?? 0)
  }

  func writeIfDue(_ decided: DecidedState<State>) {
    if decided.sequence >= written.withLock({ $0 }) + distance { write(decided) }
  }

  /// A failure is harmless: the log is read again.
  func write(_ decided: DecidedState<State>) {
    guard let data = try? makeEncoder().encode(decided),
      (try? data.write(to: URL(filePath: path), options: .atomic)) != nil
    else { return }
    written.withLock { $0 = decided.sequence }
  }
}
