public import Synchronization

/// The extent for a turn that starts without the lock.
@usableFromInline
package struct Front: ~Copyable, Sendable {
  @usableFromInline let first = Atomic<UInt>(0)
  @usableFromInline let end = Atomic<UInt>(0)
  @usableFromInline let lastSerial = Atomic<UInt>(0)

  package init() {}

  /// `true` if a turn that starts now would find no slot.
  @inlinable @inline(__always)
  package var isEmpty: Bool { lastSerial.load(ordering: .relaxed) == 0 }

  /// The serial number of the newest subscriber.
  ///
  /// Read it before `extent`.
  @inlinable @inline(__always)
  package var newestSerial: UInt { lastSerial.load(ordering: .acquiring) }

  /// All slots up to the newest, and possibly later ones.
  ///
  /// For the delivering thread, after the first subscriber has joined.
  @inlinable @inline(__always)
  package var extent: Extent {
    let end = unsafe UnsafeMutableRawPointer(bitPattern: end.load(ordering: .acquiring))
    let first = unsafe UnsafeMutableRawPointer(bitPattern: first.load(ordering: .relaxed))
    let segment = unsafe Segment(address: first.unsafelyUnwrapped)
    return unsafe Extent(first: segment, start: segment.start, end: Slot(end.unsafelyUnwrapped))
  }
}
