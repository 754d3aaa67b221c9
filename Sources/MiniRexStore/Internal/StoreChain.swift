/// Decides what the thread that has the state does next: an action, and all that its reducers send.
///
/// Touched by that thread only, without the lock.
@usableFromInline
package struct StoreChain: Hashable, Sendable {
  /// What was sent from inside the reducer, and waits for its turn.
  @usableFromInline package var queued = 0
  /// The number of the last commit, told or not.
  @usableFromInline package var number = 0
  /// Whether events are made: true if anybody was subscribed when the chain began.
  ///
  /// Nobody joins before it is over.
  @usableFromInline package var isTold = false

  package init() {}

  /// True if an action has been sent that must be reduced before the thread lets go.
  @inlinable @inline(__always)
  package var hasMore: Bool { queued > 0 }

  package mutating func begin(after committed: Int, isTold: Bool) {
    number = committed
    self.isTold = isTold
  }

  @inlinable
  package mutating func queue() {
    queued += 1
  }

  /// False if the chain is over.
  @inlinable
  package mutating func takeNext() -> Bool {
    if queued == 0 { return false }
    queued -= 1
    return true
  }

  @inlinable
  package mutating func commit() -> Int {
    number += 1
    return number
  }
}
