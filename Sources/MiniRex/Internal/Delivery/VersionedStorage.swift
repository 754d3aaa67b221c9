public import Synchronization

/// The part of a property's storage that computed values use.
///
/// It is not generic, for the same reason as `AnyDelivery`. Unchecked: each property states its
/// guard. The lock is the lock of the delivery.
@usableFromInline
package class VersionedStorage: @unchecked Sendable {
  /// The time of the last change since a computed value first read this storage, or the time of
  /// that read.
  ///
  /// Written under the lock, and read by any thread. It is `changing` during a change.
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
  /// The time of the last in-place mutation, which is a change without a comparison.
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

  static let changing = UInt.max - 1

  /// Counts changes from now on.
  ///
  /// Called under the lock. An earlier change has no time.
  @usableFromInline
  final func track() {
    unsafe place = ChangeLog.newPlace()
    version.store(ChangeClock.now, ordering: .releasing)
    unsafe isTracked = true
  }

  /// Counts a change.
  ///
  /// Called under the lock, before the storage can be read.
  @usableFromInline
  final func advance(inPlace: Bool) {
    beginChange()
    endChange(at: ChangeClock.tick(unsafe place), inPlace: inPlace)
  }

  /// The version changes before the clock, so that a thread that sees the new time does not see the
  /// old version.
  final func beginChange() {
    version.store(VersionedStorage.changing, ordering: .relaxed)
  }

  final func endChange(at time: UInt, inPlace: Bool) {
    if inPlace { unsafe mutatedVersion = time }
    version.store(time, ordering: .releasing)
  }

  /// The value with its version.
  func presentRecord() -> ValueRecord { ValueRecord(self, version: 0) }

  /// The last batch that wrote the value.
  ///
  /// Guarded by the lock. A batch that is over holds nothing.
  @usableFromInline @exclusivity(unchecked) final var batch: WriteBatch?

  /// The source that delivers the value.
  var source: AnyDelivery? { nil }
}

/// The operations that depend on the type of the value, specialized where the storage is created.
///
/// Overrides in a generic class would not be.
@usableFromInline
package struct StorageOperations: Sendable {
  @usableFromInline typealias Subscribe =
    @Sendable (VersionedStorage, LiveInputs, Sentinel, EntryID) -> FollowedStorage

  /// Returns `true` if the present value equals the record.
  let isUnchanged: @Sendable (VersionedStorage, ValueRecord) -> Bool
  /// Subscribes the inputs of a computed value, and reads the value in the same step.
  let subscribe: Subscribe

  @usableFromInline
  init(
    isUnchanged: @escaping @Sendable (VersionedStorage, ValueRecord) -> Bool,
    subscribe: @escaping Subscribe
  ) {
    self.isUnchanged = isUnchanged
    self.subscribe = subscribe
  }
}

/// The subscription of a computed value to a storage, and the value before all of its updates.
@usableFromInline
struct FollowedStorage {
  let input: Subscription
  let record: ValueRecord
  /// The last batch that wrote the value.
  let batch: WriteBatch?

  @usableFromInline
  init(_ input: Subscription, _ record: ValueRecord, _ batch: WriteBatch? = nil) {
    self.input = input
    self.record = record
    self.batch = batch
  }
}
