internal import Synchronization

/// The places of the values that changed last.
///
/// A result whose dependencies, at any depth, are at other places needs no inspection. Values that
/// are first read one after the other have neighboring places.
///
/// Unchecked: the entries are atomic. They are never deallocated.
@safe
struct ChangeLog: @unchecked Sendable {
  static let shared = ChangeLog()
  private static let capacity: UInt = 32
  private static let lastPlace = Atomic<UInt32>(0)
  /// Stored instead of a place for a change of several values, which may be at any place.
  static let severalPlaces: UInt32 = 0

  /// Each entry is the lower half of a time, and a place.
  ///
  /// The entry of a time may be missing: a thread stores it after the clock has moved, and a later
  /// time overwrites it. The stored time shows that.
  private let entries = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Int(capacity))

  private init() {
    for index in 0..<Int(ChangeLog.capacity) {
      unsafe (entries + index).initialize(to: Atomic(0))
    }
  }

  /// Values may share a place, after four billion values.
  static func newPlace() -> UInt32 { lastPlace.wrappingAdd(1, ordering: .relaxed).newValue }

  func store(_ place: UInt32, at time: UInt) {
    let entry = UInt64(UInt32(truncatingIfNeeded: time)) << 32 | UInt64(place)
    unsafe entries[Int(time % ChangeLog.capacity)].store(entry, ordering: .releasing)
  }

  /// Returns `true` if all changes between the times are known to be at other places.
  func isFree(of places: PlaceRange, from start: UInt, to end: UInt) -> Bool {
    if start == 0 || start > end || end - start > ChangeLog.capacity { return false }
    var time = start
    while time < end {
      time += 1
      let entry = unsafe entries[Int(time % ChangeLog.capacity)].load(ordering: .acquiring)
      if UInt32(truncatingIfNeeded: entry >> 32) != UInt32(truncatingIfNeeded: time)
        || places.contains(UInt32(truncatingIfNeeded: entry))
      {
        return false
      }
    }
    return true
  }
}

/// The lowest and the highest place of some values, or an empty range.
struct PlaceRange: Equatable {
  private var lowest = UInt32.max
  private var highest: UInt32 = 0

  func contains(_ place: UInt32) -> Bool {
    lowest <= place && place <= highest || place == ChangeLog.severalPlaces
  }

  mutating func insert(_ place: UInt32) {
    lowest = min(lowest, place)
    highest = max(highest, place)
  }

  mutating func insert(_ other: PlaceRange) {
    lowest = min(lowest, other.lowest)
    highest = max(highest, other.highest)
  }
}
