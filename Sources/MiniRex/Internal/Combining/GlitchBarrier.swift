internal import Synchronization

/// A subscription of a combination in a source that several of its inputs share, behind these
/// inputs.
///
/// When the turn reaches it, all inputs have changed. `serial`, `replacement`, and `isCounted` are
/// written under the lock of the source. `isOpen` is written under the lock of the combination, by the
/// delivering thread of the source, and read by either.
@usableFromInline
final class GlitchBarrier: Sendable {
  let source: AnyDelivery
  let token: Subscription
  let serial = Atomic<UInt>(0)
  /// `true` from the first change of a turn of the source until the turn reaches the barrier.
  let isOpen = Atomic(false)
  /// `true` after another barrier was installed behind it, for inputs that have moved.
  let isReplaced = Atomic(false)
  /// The serial number of the newest subscriber at the replacement, or 0 before it.
  let replacement = Atomic<UInt>(0)
  /// `true` while the source counts it.
  let isCounted = Atomic(false)
  private let combination: Combination

  init(of combination: Combination, in source: AnyDelivery) {
    self.combination = combination
    self.source = source
    token = Subscription(to: source)
  }

  /// Emits the held changes.
  ///
  /// Called by the source, after the inputs.
  func call() {
    source.hasPassed(self)
    if isOpen.relaxed { combination.close(self) }
    if isReplaced.load(ordering: .relaxed) { combination.withdraw(self) }
  }

  /// Lets a newer barrier replace this one, after the turns that do not include the newer one.
  func replace() {
    isReplaced.store(true, ordering: .relaxed)
    combination.withdraw(self)
  }
}
