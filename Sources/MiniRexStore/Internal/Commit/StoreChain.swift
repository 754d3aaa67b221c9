/// The bookkeeping of a chain: one action, and all actions that its reducers send.
///
/// Guarded by exclusive access to the store.
@usableFromInline
package struct StoreChain: Hashable, Sendable {
  /// The work that follows a commit.
  @usableFromInline
  package struct Duties: OptionSet, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable @inline(__always)
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Commits make events, because subscribers may exist.
    ///
    /// Joining needs exclusive access, so no subscriber is missed.
    @inlinable package static var publishes: Duties { Duties(rawValue: 1) }
    /// Removable children may exist.
    @inlinable package static var checksChildren: Duties { Duties(rawValue: 2) }
    /// Histories may exist.
    @inlinable package static var records: Duties { Duties(rawValue: 4) }
    /// A scope over a removable child will read the chain.
    @inlinable package static var keepsChild: Duties { Duties(rawValue: 8) }

    /// A Boolean value that indicates whether a commit inside a chain is published or recorded.
    @inlinable @inline(__always)
    package var areRecording: Bool { !isDisjoint(with: [.publishes, .records, .keepsChild]) }

    @inlinable @inline(__always)
    package mutating func set(_ duty: Duties, _ isPresent: Bool) {
      if isPresent { formUnion(duty) } else { subtract(duty) }
    }
  }

  /// The number of queued actions that were sent from inside the reducer.
  @usableFromInline package var queued = 0
  /// The number of the last commit.
  @usableFromInline package var number = 0
  @usableFromInline package var duties: Duties = []

  @inlinable package init() {}

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
