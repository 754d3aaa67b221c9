internal import Synchronization

/// A value that one run of a computed value read.
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
class ValueRecord: @unchecked Sendable {
  let storage: VersionedStorage
  /// A version at which the storage had this value, or one that equals it.
  let version: Atomic<UInt>

  init(_ storage: VersionedStorage, version: UInt) {
    self.storage = storage
    self.version = Atomic(version)
  }

  /// `true` if the storage has not changed since.
  final var isPresent: Bool {
    storage.version.load(ordering: .acquiring) == version.load(ordering: .relaxed)
  }

  /// Returns `true` if the present value equals this one.
  func isUnchanged() -> Bool { isPresent }

  /// Returns `true` if both records have equal values.
  func isSame(as other: ValueRecord) -> Bool { self === other }
}

/// Unchecked like its superclass: all properties are constant or atomic.
final class TypedValueRecord<Value: Sendable>: ValueRecord, @unchecked Sendable {
  let value: Value

  init(_ value: Value, of storage: PropertyStorage<Value>, version: UInt) {
    self.value = value
    super.init(storage, version: version)
  }

  private var typedStorage: PropertyStorage<Value> {
    unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
  }

  override func isUnchanged() -> Bool {
    if let origin = storage.origin, !origin.isConnected {
      return !isChange(to: typedStorage.refreshedRecord(origin).value)
    }
    if isPresent { return true }
    let present = typedStorage.snapshot
    if present.mutatedVersion > version.load(ordering: .relaxed) || isChange(to: present.value) {
      return false
    }
    version.store(present.version, ordering: .relaxed)
    return true
  }

  override func isSame(as other: ValueRecord) -> Bool {
    self === other
      || !isChange(to: unsafe unsafeDowncast(other, to: TypedValueRecord<Value>.self).value)
  }

  private func isChange(to other: Value) -> Bool {
    typedStorage.delivery.comparison.isChange(from: value, to: other)
  }
}

extension PropertyStorage {
  /// The value with its versions.
  ///
  /// From now on, changes are counted.
  var snapshot: (value: Value, version: UInt, mutatedVersion: UInt) {
    withLock { _ in
      unsafe isTracked = true
      return (
        unsafe value, presentVersion, unsafe mutatedVersion
      )
    }
  }

  var record: TypedValueRecord<Value> {
    if let origin, !origin.isConnected { return refreshedRecord(origin) }
    let (value, version, _) = snapshot
    return TypedValueRecord(value, of: self, version: version)
  }
}
