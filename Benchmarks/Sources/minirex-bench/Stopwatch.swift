import CBench
import Synchronization

/// Times a run; threads set it going again once all of them are there.
final class Stopwatch: Sendable {
  static let shared = Stopwatch()

  private let began = Atomic<UInt64>(0)
  private let ended = Atomic<UInt64>(0)

  func start() {
    ended.store(0, ordering: .relaxed)
    began.store(cb_now(), ordering: .relaxed)
  }

  /// The first stop counts.
  func stop() {
    _ = ended.compareExchange(expected: 0, desired: cb_now(), ordering: .relaxed)
  }

  var nanoseconds: Double {
    Double(ended.load(ordering: .relaxed) - began.load(ordering: .relaxed))
  }
}
