/// The bookkeeping of a chain: one action, and all actions that its reducers send.
///
/// Guarded by exclusive access to the store.
@usableFromInline
package struct StoreChain: Hashable, Sendable {
  /// The number of queued actions that were sent from inside the reducer.
  @usableFromInline package var queued = 0
  /// The number of the last commit.
  @usableFromInline package var number = 0
  /// The duties of a commit as bits: 1 publishes it, 2 looks for removed children, 4 records it for
  /// histories, 8 remembers it for the scope that will read it.
  @usableFromInline var duties: UInt8 = 0

  @inlinable package init() {}

  /// A Boolean value that indicates whether commits make events, because subscribers may exist.
  ///
  /// Joining needs exclusive access, so no subscriber is missed.
  @inlinable @inline(__always)
  package var hasSubscribers: Bool {
    get { duties & 1 != 0 }
    set { duties = newValue ? duties | 1 : duties & ~1 }
  }

  /// A Boolean value that indicates whether removable children may exist.
  @inlinable @inline(__always)
  package var hasParts: Bool {
    get { duties & 2 != 0 }
    set { duties = newValue ? duties | 2 : duties & ~2 }
  }

  /// A Boolean value that indicates whether histories may exist.
  @inlinable @inline(__always)
  package var hasHistories: Bool {
    get { duties & 4 != 0 }
    set { duties = newValue ? duties | 4 : duties & ~4 }
  }

  /// A Boolean value that indicates whether a scope over a removable child will read the chain.
  @inlinable @inline(__always)
  package var hasReadingScope: Bool {
    get { duties & 8 != 0 }
    set { duties = newValue ? duties | 8 : duties & ~8 }
  }

  /// A Boolean value that indicates whether a commit inside a chain is published or recorded.
  @inlinable @inline(__always)
  package var isRecorded: Bool { duties & 13 != 0 }

  /// A Boolean value that indicates whether a commit has any duty.
  @inlinable @inline(__always)
  package var hasDuties: Bool { duties != 0 }

  /// A Boolean value that indicates whether actions are queued.
  ///
  /// They are reduced before an action that a reducer returns, and before the thread releases the
  /// state.
  @inlinable @inline(__always)
  package var hasQueued: Bool { queued > 0 }

  @inlinable @inline(__always)
  package mutating func queue() {
    queued += 1
  }

  /// Takes the next queued action.
  ///
  /// - Returns: `false` if the chain is finished.
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
