import CBench
import Synchronization

/// Times a run.
///
/// Threads restart it once all of them have started.
final class Stopwatch: Sendable {
  static let shared = Stopwatch()

  private let began = Atomic<UInt64>(0)
  private let ended = Atomic<UInt64>(0)

  func start() {
    ended.store(0, ordering: .relaxed)
    began.store(cb_now(), ordering: .relaxed)
  }

  /// Stops the time.
  ///
  /// Later calls have no effect.
  func stop() {
    _ = ended.compareExchange(expected: 0, desired: cb_now(), ordering: .relaxed)
  }

  var nanoseconds: Double {
    Double(ended.load(ordering: .relaxed) - began.load(ordering: .relaxed))
  }
}
