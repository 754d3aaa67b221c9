import Synchronization

/// When rows were changed last, told by a number that no other change in the process has.
///
/// So two copies that were changed apart cannot be confused, and copies with one stamp are equal.
@usableFromInline
struct RowsStamp: Sendable, Hashable, Comparable {
  @usableFromInline let number: UInt64

  @inlinable
  init(number: UInt64) { self.number = number }

  /// That of all rows that were empty from the beginning.
  @inlinable
  static var never: RowsStamp { RowsStamp(number: 0) }

  /// True if one was made before the other.
  @inlinable
  static func < (one: RowsStamp, other: RowsStamp) -> Bool { one.number < other.number }

  @usableFromInline
  static func next() -> RowsStamp {
    RowsStamp(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  private static let last = Atomic<UInt64>(0)
}
