public import Synchronization

/// A value that one run of a computed value read.
///
/// It counts no references, because a change inspects many of them: the list that contains it
/// retains the objects. Unchecked: both references are constant.
@safe @usableFromInline
struct Dependency: @unchecked Sendable {
  enum Content {
    case value(ValueRecord)
    case computed(ComputedNode, ComputedResult)
  }

  /// A record, or the computed value of the result.
  @usableFromInline let source: UnsafeMutableRawPointer
  @usableFromInline let storedResult: Unmanaged<ComputedResult>?

  /// Retains the record.
  @inlinable
  init(_ record: ValueRecord) {
    unsafe source = Unmanaged.passRetained(record).toOpaque()
    unsafe storedResult = nil
  }

  /// Retains both.
  init(_ node: ComputedNode, _ result: ComputedResult) {
    unsafe source = Unmanaged.passRetained(node).toOpaque()
    unsafe storedResult = .passRetained(result)
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

  /// Inserts the places of the values that it depends on, at any depth.
  func insertPlaces(into range: inout PlaceRange) {
    if let result = unsafe storedResult {
      unsafe result._withUnsafeGuaranteedRef { range.insert($0.places) }
    } else {
      unsafe record._withUnsafeGuaranteedRef { unsafe range.insert($0.storage.place) }
    }
  }

  func withNode<Result>(_ body: (ComputedNode) -> Result) -> Result {
    unsafe node._withUnsafeGuaranteedRef(body)
  }

  /// Returns `true` if the result of a computed value is known to be correct at this time, or is
  /// skipped at the time of a pass.
  func isPresent(at time: UInt, _ skipTime: UInt) -> Bool {
    withNode { node in
      node.isSkipped(at: skipTime)
        || node.isPresent(
          unsafe UInt(bitPattern: storedResult.unsafelyUnwrapped.toOpaque()), at: time)
    }
  }

  /// Of a computed value.
  func withResult<Result>(_ body: (ComputedResult) -> Result) -> Result {
    unsafe storedResult.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// Of a computed value.
  var result: ComputedResult {
    unsafe storedResult.unsafelyUnwrapped.takeUnretainedValue()
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

  func release() {
    if let result = unsafe storedResult {
      unsafe node.release()
      unsafe result.release()
    } else {
      unsafe record.release()
    }
  }

  /// `true` if the value does not report its changes.
  var isVolatile: Bool {
    if let result = unsafe storedResult {
      return unsafe result._withUnsafeGuaranteedRef { $0.isVolatile }
    }
    return unsafe record._withUnsafeGuaranteedRef { $0.storage.origin != nil }
  }

  /// Returns `true` if both name the same value, and its own dependencies have the same shape.
  func hasShape(of other: Dependency) -> Bool {
    switch unsafe (storedResult, other.storedResult) {
    case (nil, nil):
      unsafe source == other.source
        || record._withUnsafeGuaranteedRef { record in
          unsafe other.record._withUnsafeGuaranteedRef { $0.storage === record.storage }
        }
    case (let result?, let otherResult?):
      unsafe source == other.source
        && (result.toOpaque() == otherResult.toOpaque()
          || result._withUnsafeGuaranteedRef { result in
            unsafe otherResult._withUnsafeGuaranteedRef { $0.shape == result.shape }
          })
    default: false
    }
  }
}

/// The dependencies of one run, in the order of the reads.
///
/// The result that owns the list frees it. One or two dependencies need no allocation. Unchecked,
/// like its elements.
@safe @usableFromInline
struct DependencyList: RandomAccessCollection, @unchecked Sendable {
  static let empty = unsafe DependencyList(UnsafeBufferPointer(start: nil, count: 0))

  @usableFromInline let endIndex: Int
  private let first: Dependency?
  private let last: Dependency?
  private let elements: UnsafeMutablePointer<Dependency>?

  /// Takes the references of the elements.
  init(_ dependencies: UnsafeBufferPointer<Dependency>) {
    endIndex = dependencies.count
    first = unsafe dependencies.first
    last = unsafe dependencies.last
    unsafe elements = endIndex > 2 ? .allocate(capacity: endIndex) : nil
    if let elements = unsafe elements, let source = dependencies.baseAddress {
      unsafe elements.initialize(from: source, count: endIndex)
    }
  }

  @usableFromInline var startIndex: Int { 0 }

  @usableFromInline subscript(index: Int) -> Dependency {
    if let elements = unsafe elements { return unsafe elements[index] }
    return unsafe (index == 0 ? first : last).unsafelyUnwrapped
  }

  /// Returns `true` if both have the same dependencies at any depth.
  func haveShape(of others: DependencyList) -> Bool {
    count == others.count && indices.allSatisfy { self[$0].hasShape(of: others[$0]) }
  }

  /// The places of the dependencies at any depth.
  var places: PlaceRange {
    reduce(into: PlaceRange()) { $1.insertPlaces(into: &$0) }
  }

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
