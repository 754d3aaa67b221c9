/// Decides what the thread that has the state does next: an action, and all that its reducers send.
///
/// Touched by that thread only.
@usableFromInline
package struct StoreChain: Hashable, Sendable {
  /// What was sent from inside the reducer, and waits for its turn.
  @usableFromInline package var queued = 0
  /// The number of the last commit.
  @usableFromInline package var number = 0
  /// What a commit has to do besides: 1 to tell of itself, 2 to look for parts that have gone, 4 to be
  /// remembered.
  @usableFromInline var duties: UInt8 = 0

  @inlinable package init() {}

  /// Whether events are made: true if anybody may be subscribed.
  ///
  /// Who joins has the state meanwhile.
  @inlinable @inline(__always)
  package var isTold: Bool {
    get { duties & 1 != 0 }
    set { duties = newValue ? duties | 1 : duties & ~1 }
  }

  /// Whether there may be parts that can go.
  @inlinable @inline(__always)
  package var hasParts: Bool {
    get { duties & 2 != 0 }
    set { duties = newValue ? duties | 2 : duties & ~2 }
  }

  /// Whether there may be histories.
  @inlinable @inline(__always)
  package var hasHistories: Bool {
    get { duties & 4 != 0 }
    set { duties = newValue ? duties | 4 : duties & ~4 }
  }

  /// Whether a commit of several is to be told or remembered.
  @inlinable @inline(__always)
  package var isNoted: Bool { duties & 5 != 0 }

  /// False if a commit has nothing to do besides.
  @inlinable @inline(__always)
  package var hasDuties: Bool { duties != 0 }

  /// True if an action has been sent that must be reduced before the thread lets go, and before the
  /// one that a reducer returns.
  @inlinable @inline(__always)
  package var hasMore: Bool { queued > 0 }

  @inlinable @inline(__always)
  package mutating func queue() {
    queued += 1
  }

  /// False if the chain is over.
  @inlinable @inline(__always)
  package mutating func takeNext() -> Bool {
    if queued == 0 { return false }
    queued -= 1
    return true
  }

  @inlinable @inline(__always)
  package mutating func commit() -> Int {
    number += 1
    return number
  }
}
