/// Decides, under a lock, which thread alone may change a value in place, and who waits for that.
///
/// It is no lock itself: whoever has the access runs code of the user's with it, and what must not be
/// done inside that code is found out rather than waited for.
@usableFromInline
package struct Exclusive: Hashable, Sendable {
  /// Who is in the way of a thread that needs the value.
  package enum Obstacle: Sendable {
    case free
    /// The thread itself.
    case own
    /// Another thread, which will wake those who wait.
    case others
  }

  /// The thread that has the value.
  @usableFromInline package var owner: ThreadID?
  /// True if threads sleep until the value is free.
  @usableFromInline package var isAwaited = false

  @inlinable package init() {}

  @inlinable @inline(__always)
  package var isFree: Bool { owner == nil }

  /// False if somebody has the value already.
  @inlinable @inline(__always)
  package mutating func enter(on thread: ThreadID) -> Bool {
    if owner != nil { return false }
    owner = thread
    return true
  }

  /// - Returns: True if those who sleep have to be woken.
  @inlinable @inline(__always)
  package mutating func leave() -> Bool {
    owner = nil
    let mustWake = isAwaited
    isAwaited = false
    return mustWake
  }

  /// What a thread that was not let in has to do: unless it was `others`, it need not sleep.
  package mutating func wait(on thread: ThreadID) -> Obstacle {
    guard let owner else { return .free }
    if owner == thread { return .own }
    isAwaited = true
    return .others
  }
}
