public import Synchronization

/// A value that one run of a computed value read.
///
/// It counts no references, because a change inspects many of them: the list that contains it
/// retains the objects.
@safe @usableFromInline
struct Dependency {
  enum Content {
    case value(ValueRecord)
    case computed(ComputedNode, ComputedResult)
  }

  /// The record of a source, if `storedResult` is `nil`, and otherwise the computed value of that
  /// result.
  @usableFromInline let source: UnsafeMutableRawPointer
  @usableFromInline let storedResult: Unmanaged<ComputedResult>?

  /// Retains the record.
  @inlinable
  init(_ record: ValueRecord) {
    unsafe source = Unmanaged.passRetained(record).toOpaque()
    unsafe storedResult = nil
  }

  /// Retains both.
  init(
    _ node: UnretainedReference<ComputedNode>, _ result: UnretainedReference<ComputedResult>
  ) {
    unsafe source = node.object.retain().toOpaque()
    unsafe storedResult = result.object.retain()
  }

  @inlinable var isComputed: Bool { unsafe storedResult != nil }

  var content: Content {
    if let result = unsafe storedResult {
      unsafe .computed(node.takeUnretainedValue(), result.takeUnretainedValue())
    } else {
      unsafe .value(record.takeUnretainedValue())
    }
  }

  private var record: Unmanaged<ValueRecord> { unsafe .fromOpaque(source) }
  private var node: Unmanaged<ComputedNode> { unsafe .fromOpaque(source) }

  /// Returns `true` if it is a result of this computed value.
  func isResult(of node: ComputedNode) -> Bool {
    unsafe isComputed && source == Unmanaged.passUnretained(node).toOpaque()
  }

  /// Returns the record, if it is one of this storage.
  @inlinable
  func record(of storage: VersionedStorage) -> ValueRecord? {
    if isComputed { return nil }
    return unsafe Unmanaged<ValueRecord>.fromOpaque(source)._withUnsafeGuaranteedRef {
      $0.storage === storage ? $0 : nil
    }
  }

  func withRecord<Result>(_ body: (ValueRecord) -> Result) -> Result {
    unsafe record._withUnsafeGuaranteedRef(body)
  }

  /// The identity of the storage or of the computed value.
  var identity: ObjectIdentifier {
    isComputed ? withNode { ObjectIdentifier($0) } : withRecord { ObjectIdentifier($0.storage) }
  }

  func withNode<Result>(_ body: (ComputedNode) -> Result) -> Result {
    unsafe node._withUnsafeGuaranteedRef(body)
  }

  /// Returns `true` if both are known to be the same source, or results with the same shape.
  func hasShape(of other: Dependency) -> Bool {
    if !isComputed || !other.isComputed {
      return isComputed == other.isComputed && identity == other.identity
    }
    return unsafe source == other.source
      && withResult { result in other.withResult { !$0.hasMoved(to: result) } }
  }

  /// Calls `body` with the result.
  ///
  /// The dependency must be a computed value.
  func withResult<Result>(_ body: (ComputedResult) -> Result) -> Result {
    unsafe storedResult.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// The result.
  ///
  /// The dependency must be a computed value.
  var result: UnretainedReference<ComputedResult> {
    withResult { UnretainedReference($0) }
  }

  /// Retains the objects for another list.
  func retained() -> Dependency {
    if let result = unsafe storedResult {
      _ = unsafe node.retain()
      _ = unsafe result.retain()
    } else {
      _ = unsafe record.retain()
    }
    return self
  }

  /// A chain of results is released as a chain of callbacks is.
  func release() {
    if let result = unsafe storedResult {
      unsafe node.release()
      var last: ComputedResult? = unsafe result.takeRetainedValue()
      ReleaseChain.release(&last)
    } else {
      unsafe record.release()
    }
  }
}

/// The dependencies of one run, in the order of the reads.
///
/// The result that owns the list frees it. One or two dependencies need no allocation.
@safe @usableFromInline
struct DependencyList: RandomAccessCollection {
  @usableFromInline let endIndex: Int
  private let first: Dependency?
  private let last: Dependency?
  private let elements: UnsafeMutablePointer<Dependency>?

  /// Takes the references of the elements.
  @inline(__always)
  init(count: Int, _ element: (Int) -> Dependency) {
    endIndex = count
    unsafe elements = count > 2 ? .allocate(capacity: count) : nil
    if let elements = unsafe elements {
      for index in 0..<count { unsafe (elements + index).initialize(to: element(index)) }
      (first, last) = (nil, nil)
    } else {
      first = count > 0 ? element(0) : nil
      last = count > 1 ? element(1) : nil
    }
  }

  @usableFromInline var startIndex: Int { 0 }

  @usableFromInline subscript(index: Int) -> Dependency {
    if let elements = unsafe elements { return unsafe elements[index] }
    return unsafe (index == 0 ? first : last).unsafelyUnwrapped
  }

  /// Returns `true` if the other list is known to have the same sources, at any depth.
  func haveShape(of other: DependencyList) -> Bool {
    count == other.count && indices.allSatisfy { self[$0].hasShape(of: other[$0]) }
  }

  /// Releases the elements.
  func free() {
    for dependency in self { dependency.release() }
    unsafe elements?.deallocate()
  }
}

/// A value of a storage, and its version.
///
/// Retaining the value lets a run that other threads overtake read the value that it has already
/// used. A later in-place mutation copies the value once. Unchecked, because it has a subclass: all
/// properties are constant or atomic.
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

  /// Returns `true` if both records are known to have equal values.
  final func isSame(as other: ValueRecord) -> Bool {
    self === other
      || hasVersion(of: other) || hasValue(of: other)
  }

  private final func hasVersion(of other: ValueRecord) -> Bool {
    let version = version.load(ordering: .relaxed)
    return version != .max && version == other.version.load(ordering: .relaxed)
  }

  func hasValue(of other: ValueRecord) -> Bool { false }

  @inlinable
  final func value<Value: Sendable>(of _: Value.Type) -> Value {
    unsafe unsafeDowncast(self, to: TypedValueRecord<Value>.self).value
  }
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

  override func hasValue(of other: ValueRecord) -> Bool {
    let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
    let other = unsafe unsafeDowncast(other, to: TypedValueRecord<Value>.self)
    // A mutation in place is a change without a comparison. It counts from its beginning, when
    // `modify` has not changed the value yet.
    let mutated = storage.delivery.lock.withLock { _ in unsafe storage.mutatedVersion }
    return mutated <= min(version.load(ordering: .relaxed), other.version.load(ordering: .relaxed))
      && !storage.delivery.comparison.isChange(from: value, to: other.value)
  }
}

extension PropertyStorage {
  /// The value with its versions.
  ///
  /// From now on, changes are counted.
  @inlinable
  var snapshot: (value: Value, version: UInt, mutatedVersion: UInt) {
    withLock { _ in
      if unsafe !isTracked { track() }
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
