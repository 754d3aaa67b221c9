public import Synchronization

/// The part of a property's storage that computed values use.
///
/// It is not generic, for the same reason as `AnyDelivery`. Unchecked: each property states its
/// guard. The lock is the lock of the delivery.
@usableFromInline
package class VersionedStorage: @unchecked Sendable {
  /// The number of changes since a computed value first read this storage.
  ///
  /// Written under the lock, and read by any thread.
  @usableFromInline let version = Atomic<UInt>(0)
  /// The run of a computed value that read this storage last.
  ///
  /// A hint, never a proof.
  @usableFromInline let reader = Atomic<UInt>(0)
  /// `true` if a computed value has read this storage.
  ///
  /// Guarded by the lock.
  @usableFromInline @exclusivity(unchecked) final var isTracked = false
  /// The place in the log of changes, constant from the first read on.
  @exclusivity(unchecked) final private(set) var place: UInt32 = 0
  /// The version after the last in-place mutation, which is a change without a comparison.
  ///
  /// Guarded by the lock.
  @usableFromInline @exclusivity(unchecked) final var mutatedVersion: UInt = 0
  /// The publisher whose value this storage repeats, or `nil` for a property.
  @usableFromInline let origin: UntrackedOrigin?
  @usableFromInline let operations: StorageOperations

  @usableFromInline
  init(_ operations: StorageOperations, repeating origin: UntrackedOrigin? = nil) {
    self.operations = operations
    self.origin = origin
  }

  /// The version, which is exact under the lock.
  @inlinable final var presentVersion: UInt { version.load(ordering: .relaxed) }

  /// Counts changes from now on.
  ///
  /// Called under the lock.
  @usableFromInline
  final func track() {
    unsafe place = ChangeLog.newPlace()
    unsafe isTracked = true
  }

  /// Counts a change.
  ///
  /// Called under the lock, before the storage can be read.
  ///
  /// The version changes before the clock, so that a thread that sees the new time also sees the
  /// new version.
  @usableFromInline
  final func advance(inPlace: Bool) {
    let next = version.load(ordering: .relaxed) + 1
    version.store(next, ordering: .releasing)
    if inPlace { unsafe mutatedVersion = next }
    ChangeClock.tick(unsafe place)
  }

  /// The value with its version.
  func presentRecord() -> ValueRecord { ValueRecord(self, version: 0) }

  /// The source that delivers the value.
  var source: AnyDelivery? { nil }
}

/// The operations that depend on the type of the value, specialized where the storage is created.
///
/// Overrides in a generic class would not be.
@usableFromInline
package struct StorageOperations: Sendable {
  /// Returns `true` if the present value equals the record.
  let isUnchanged: @Sendable (VersionedStorage, ValueRecord) -> Bool
  /// Subscribes the inputs of a computed value.
  let subscribe: @Sendable (VersionedStorage, LiveInputs, Sentinel) -> Subscription

  @usableFromInline
  init(
    isUnchanged: @escaping @Sendable (VersionedStorage, ValueRecord) -> Bool,
    subscribe: @escaping @Sendable (VersionedStorage, LiveInputs, Sentinel) -> Subscription
  ) {
    self.isUnchanged = isUnchanged
    self.subscribe = subscribe
  }
}
