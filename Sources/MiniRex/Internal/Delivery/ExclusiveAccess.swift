/// Decides, under a lock, which thread has exclusive access to a value, and which threads wait.
///
/// It is not a lock: the thread with access runs user code, and code that must not use the value is
/// detected instead of blocked. A store has `StoreAccess` instead, a word that replaces its lock. A
/// property needs its lock for each value, so an atomic word would only add its two exchanges.
@usableFromInline
package struct ExclusiveAccess: Hashable, Sendable {
  /// The obstacle for a thread that needs the value.
  package enum Obstacle: Sendable {
    case free
    /// The thread itself has access.
    case own
    /// Another thread has access, and will wake the waiting threads.
    case others
  }

  /// The thread with access.
  @usableFromInline package var owner: ThreadID?
  /// `true` if threads wait for access.
  @usableFromInline package var isAwaited = false

  @inlinable package init() {}

  @inlinable @inline(__always)
  package var isFree: Bool { owner == nil }

  /// Returns `false` if another thread has access.
  @inlinable @inline(__always)
  package mutating func enter(on thread: ThreadID) -> Bool {
    if owner != nil { return false }
    owner = thread
    return true
  }

  /// Ends the access of the owner.
  ///
  /// - Returns: `true` if the caller must wake the waiting threads.
  @inlinable @inline(__always)
  package mutating func leave() -> Bool {
    owner = nil
    let mustWake = isAwaited
    isAwaited = false
    return mustWake
  }

  /// Returns the obstacle for a thread without access.
  ///
  /// It waits only for `others`.
  package mutating func wait(on thread: ThreadID) -> Obstacle {
    guard let owner else { return .free }
    if owner == thread { return .own }
    isAwaited = true
    return .others
  }
}
