internal import Synchronization

/// Counts the changes of all values that computed values depend on.
///
/// A result that was correct at the present time needs no inspection of its dependencies. Values
/// that no computed value has read do not touch the clock.
@usableFromInline
enum ChangeClock {
  private static let time = Atomic<UInt>(1)
  private static let undelivered = Atomic<Int>(0)

  /// The number of changes so far.
  ///
  /// Zero is before all of them.
  @usableFromInline static var now: UInt { time.load(ordering: .acquiring) }

  /// The number of changes that are not delivered yet.
  ///
  /// A change counts before the clock moves. If the clock has not moved since, all changes but
  /// these are delivered.
  static var undeliveredCount: Int { undelivered.load(ordering: .acquiring) }

  /// Called under the lock of the value, after its version has changed.
  static func tick(_ place: UInt32) {
    undelivered.add(1, ordering: .acquiringAndReleasing)
    let now = time.add(1, ordering: .acquiringAndReleasing).newValue
    ChangeLog.shared.store(place, at: now)
  }

  /// Called after the delivery of a change, or if it has no subscriber.
  static func hasDelivered() {
    undelivered.subtract(1, ordering: .acquiringAndReleasing)
  }
}

/// Numbers that never repeat, for runs, results, and shapes.
enum UniqueNumber {
  private static let last = Atomic<UInt>(0)

  static func next() -> UInt { last.add(1, ordering: .relaxed).newValue }
}
