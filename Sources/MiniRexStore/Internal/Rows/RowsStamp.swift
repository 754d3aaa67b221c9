import Synchronization

/// The version of a collection of rows, unique in the process.
///
/// Copies that were changed separately have different stamps, and copies with the same stamp are
/// equal.
@usableFromInline
struct RowsStamp: Sendable, Hashable, Comparable {
  @usableFromInline let number: UInt64

  @inlinable
  init(number: UInt64) { self.number = number }

  /// The stamp of every collection that was always empty.
  @inlinable
  static var never: RowsStamp { RowsStamp(number: 0) }

  /// Returns `true` if the left stamp was created before the right stamp.
  @inlinable
  static func < (one: RowsStamp, other: RowsStamp) -> Bool { one.number < other.number }

  @usableFromInline
  static func next() -> RowsStamp {
    RowsStamp(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  private static let last = Atomic<UInt64>(0)
}
