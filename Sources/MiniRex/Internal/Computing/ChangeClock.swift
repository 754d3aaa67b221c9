internal import Synchronization

/// Counts the changes of all values that computed values depend on.
///
/// A change has a time, from which on its value is present. A result that was
/// correct at the present time needs no inspection of its dependencies. Values that no computed
/// value has read do not touch the clock.
@usableFromInline
enum ChangeClock {
  private static let time = Atomic<UInt>(1)

  /// The time of the last change.
  ///
  /// Zero is before all of them.
  @usableFromInline static var now: UInt { time.load(ordering: .acquiring) }

  /// Returns the time of a change at this place.
  ///
  /// Called while no thread can read the value.
  static func tick(_ place: UInt32) -> UInt {
    let now = time.add(1, ordering: .acquiringAndReleasing).newValue
    ChangeLog.shared.store(place, at: now)
    return now
  }
}

/// Numbers that never repeat, for sessions.
enum UniqueNumber {
  private static let last = Atomic<UInt>(0)

  static func next() -> UInt { last.add(1, ordering: .relaxed).newValue }
}
