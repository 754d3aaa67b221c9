public import Synchronization

/// A value that one run of a computed value read.
@usableFromInline
enum Dependency: Sendable {
  case value(ValueRecord)
  case computed(ComputedNode, ComputedResult)

  /// Returns `true` if both name the same value, and its own dependencies have the same shape.
  func hasShape(of other: Dependency) -> Bool {
    switch (self, other) {
    case (.value(let record), .value(let other)): record.storage === other.storage
    case (.computed(let node, let result), .computed(let other, let otherResult)):
      node === other && result.shape == otherResult.shape
    default: false
    }
  }
}

/// A value of a storage, and its version.
///
/// Retaining the value lets a run that other threads overtake read the value that it has already
/// used. A later in-place mutation copies the value once.
@usableFromInline
class ValueRecord: @unchecked Sendable {
  @usableFromInline let storage: VersionedStorage
  /// A version at which the storage had this value, or one that equals it.
  @usableFromInline let version: Atomic<UInt>

  @inlinable
  init(_ storage: VersionedStorage, version: UInt) {
    self.storage = storage
    self.version = Atomic(version)
  }

  /// `true` if the storage has not changed since.
  @inlinable final var isPresent: Bool {
    storage.version.load(ordering: .acquiring) == version.load(ordering: .relaxed)
  }

  /// Returns `true` if the present value equals this one.
  final func isUnchanged() -> Bool {
    if isPresent, storage.origin?.isConnected ?? true { return true }
    return storage.operations.isUnchanged(storage, self)
  }

  /// Returns `true` if both records have equal values.
  func isSame(as other: ValueRecord) -> Bool { self === other }
}

/// Unchecked like its superclass: all properties are constant or atomic.
@usableFromInline
final class TypedValueRecord<Value: Sendable>: ValueRecord, @unchecked Sendable {
  @usableFromInline let value: Value

  @inlinable
  init(_ value: Value, of storage: PropertyStorage<Value>, version: UInt) {
    self.value = value
    super.init(storage, version: version)
  }

  override func isSame(as other: ValueRecord) -> Bool {
    if self === other { return true }
    let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
    let other = unsafe unsafeDowncast(other, to: TypedValueRecord<Value>.self)
    return !storage.delivery.comparison.isChange(from: value, to: other.value)
  }
}

extension PropertyStorage {
  /// The value with its versions.
  ///
  /// From now on, changes are counted.
  @inlinable
  var snapshot: (value: Value, version: UInt, mutatedVersion: UInt) {
    withLock { _ in
      unsafe isTracked = true
      return (unsafe value, presentVersion, unsafe mutatedVersion)
    }
  }

  @inlinable
  var record: TypedValueRecord<Value> {
    if let origin { return record(of: origin) }
    let (value, version, _) = snapshot
    return TypedValueRecord(value, of: self, version: version)
  }

  @usableFromInline @inline(never)
  func record(of origin: UntrackedOrigin) -> TypedValueRecord<Value> {
    if !origin.isConnected { return refreshedRecord(origin) }
    let (value, version, _) = snapshot
    return TypedValueRecord(value, of: self, version: version)
  }

  /// Returns `true` if the present value equals the record, which is then at the present version.
  @inlinable
  func isUnchanged(_ record: TypedValueRecord<Value>) -> Bool {
    if let origin {
      let present = self.record(of: origin)
      if delivery.comparison.isChange(from: record.value, to: present.value) { return false }
      record.version.store(present.version.load(ordering: .relaxed), ordering: .relaxed)
      return true
    }
    let present = snapshot
    if present.mutatedVersion > record.version.load(ordering: .relaxed)
      || delivery.comparison.isChange(from: record.value, to: present.value)
    {
      return false
    }
    record.version.store(present.version, ordering: .relaxed)
    return true
  }
}
