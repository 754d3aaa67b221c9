internal import Synchronization

/// The part of a property's storage that computed values use.
///
/// It is not generic, for the same reason as `AnyDelivery`. Unchecked: each property states its
/// guard. The lock is the lock of the delivery.
@usableFromInline
package class VersionedStorage: @unchecked Sendable {
  /// The number of changes since a computed value first read this storage.
  ///
  /// Written under the lock, and read by any thread.
  let version = Atomic<UInt>(0)
  /// The run of a computed value that read this storage last.
  ///
  /// A hint, never a proof.
  let reader = Atomic<UInt>(0)
  /// `true` if a computed value has read this storage.
  ///
  /// Guarded by the lock.
  @usableFromInline @exclusivity(unchecked) final var isTracked = false
  /// The version after the last in-place mutation, which is a change without a comparison.
  ///
  /// Guarded by the lock.
  @exclusivity(unchecked) final var mutatedVersion: UInt = 0
  /// The publisher whose value this storage repeats, or `nil` for a property.
  let origin: UntrackedOrigin?

  @usableFromInline
  init(repeating origin: UntrackedOrigin? = nil) {
    self.origin = origin
  }

  /// The version, which is exact under the lock.
  final var presentVersion: UInt { version.load(ordering: .relaxed) }

  /// Counts a change.
  ///
  /// Called under the lock, before the storage can be read.
  ///
  /// The version changes before the clock, so that a thread that sees the new time also sees the
  /// new version.
  final func advance(inPlace: Bool) {
    let next = version.load(ordering: .relaxed) + 1
    version.store(next, ordering: .releasing)
    if inPlace { unsafe mutatedVersion = next }
    ChangeClock.tick()
  }

  /// Subscribes the inputs of a computed value.
  func subscribe(_ inputs: LiveInputs, _ sentinel: Sentinel) -> Subscription { .ended }

  /// The value with its version.
  func presentRecord() -> ValueRecord { ValueRecord(self, version: 0) }

  /// The source that delivers the value.
  var source: AnyDelivery? { nil }
}
