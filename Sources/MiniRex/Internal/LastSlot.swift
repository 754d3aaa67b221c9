internal import Synchronization

/// Where a combination stands once more in a source that several of its inputs share: behind them.
///
/// When its turn comes, they have all changed. Unchecked: `serial` and `replacement` are set under the
/// lock of the source; `isOpen` is set under the lock of the combination, by the deliverer of the
/// source, and read by either.
@usableFromInline
final class LastSlot: @unchecked Sendable {
  let source: AnyDelivery
  let token: Subscription
  @exclusivity(unchecked) var serial: UInt = 0
  /// True from the first change that a turn of the source brings until that turn comes here.
  @exclusivity(unchecked) var isOpen = false
  /// True once another one stands behind it, for inputs that have moved.
  let isReplaced = Atomic(false)
  /// Then, the last who had joined by that time; 0 before.
  @exclusivity(unchecked) var replacement: UInt = 0
  private let combination: Combination

  init(of combination: Combination, in source: AnyDelivery) {
    self.combination = combination
    self.source = source
    token = Subscription(source, place: Subscription.nowhere)
  }

  /// Called by the source, after the inputs.
  func call() {
    source.hasPassed(self)
    if unsafe isOpen { combination.close(self) }
    if isReplaced.load(ordering: .relaxed) { combination.withdraw(self) }
  }

  /// Lets another one take its place, after the turns that are not for that one.
  func replace() {
    isReplaced.store(true, ordering: .relaxed)
    combination.withdraw(self)
  }
}
