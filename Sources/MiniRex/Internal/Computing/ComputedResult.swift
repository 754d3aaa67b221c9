public import Synchronization

/// The result of one run of a computed value.
///
/// It is correct at each instant from `start` to `end`. That is a fact about the object: it does not
/// depend on where the object is stored.
///
/// Unchecked, because its subclass has a value of any type. All properties are constant or atomic.
@usableFromInline
class ComputedResult: @unchecked Sendable {
  /// The version, which is equal for equal successive values of one computed value.
  @usableFromInline let version: UInt
  /// The number of its dependencies at any depth.
  ///
  /// Results with equal numbers read the same sources and computed values, in the same order.
  @usableFromInline let shape: UInt
  /// The dependencies, in the order of the reads.
  @usableFromInline let dependencies: DependencyList
  /// `true` if a dependency does not report its changes.
  let isVolatile: Bool
  /// The places of the values that it depends on, at any depth.
  let places: PlaceRange
  /// The first instant, which begins as the time of the newest value that it depends on.
  @usableFromInline let start: Atomic<UInt>
  /// The last instant, or 0 if none is known.
  @usableFromInline let end = Atomic<UInt>(0)

  /// - Parameter dependencies: The reads of the run, which this object releases.
  @usableFromInline
  init(version: UInt, shape: UInt, _ dependencies: DependencyList) {
    self.version = version
    self.shape = shape
    self.dependencies = dependencies
    var places = PlaceRange()
    var isVolatile = false
    var start: UInt = 0
    for dependency in dependencies {
      if dependency.isComputed {
        dependency.withResult { result in
          places.insert(result.places)
          isVolatile = isVolatile || result.isVolatile
          start = max(start, result.start.load(ordering: .relaxed))
        }
      } else {
        dependency.withRecord { record in
          unsafe places.insert(record.storage.place)
          if record.storage.origin != nil { isVolatile = true }
          let version = record.version.load(ordering: .relaxed)
          if version != .max { start = max(start, version) }
        }
      }
    }
    (self.places, self.isVolatile) = (places, isVolatile)
    self.start = Atomic(start)
  }

  deinit {
    dependencies.free()
  }

  /// Returns `true` if it is known to be correct at this time.
  ///
  /// `start` was raised before `end`, so a thread that sees the end also sees the start.
  @inlinable @inline(__always)
  final func isCorrect(at time: UInt) -> Bool {
    let end = end.load(ordering: .acquiring)
    return (time <= end || extends(from: end, to: time)) && start.load(ordering: .relaxed) <= time
  }

  /// Extends the interval, if no value that it depends on has changed.
  @usableFromInline
  final func extends(from end: UInt, to time: UInt) -> Bool {
    if end == 0 || !ChangeLog.shared.isFree(of: places, from: end, to: time) { return false }
    // Another thread may have stored a later time. An earlier one is as true, and costs no lock.
    self.end.store(time, ordering: .releasing)
    return true
  }

  /// Declares that it is correct at this time, and perhaps at no time between its run and then.
  final func wasCorrect(at time: UInt) {
    if isVolatile || end.load(ordering: .relaxed) >= time { return }
    start.max(time, ordering: .relaxed)
    end.store(time, ordering: .releasing)
  }

  /// Declares that a result that no other thread knows yet is correct at this time.
  ///
  /// It needs no locked instruction, unlike `wasCorrect`.
  final func isNew(at time: UInt) {
    if isVolatile { return }
    start.store(max(start.load(ordering: .relaxed), time), ordering: .relaxed)
    end.store(time, ordering: .relaxed)
  }

  /// Returns `true` if it belongs to an older state than the other result of its computed value.
  final func isOlder(than other: ComputedResult) -> Bool {
    start.load(ordering: .relaxed) < other.start.load(ordering: .relaxed)
  }

  /// Returns `true` if the other result may depend on other sources.
  final func hasMoved(to result: ComputedResult) -> Bool { shape != result.shape }

  func replacing(_ dependencies: DependencyList) -> ComputedResult { self }

  /// Returns the result of a run, which keeps the version of an equal value.
  @inlinable
  static func of<Value: Sendable>(
    _ value: Value, _ changeTest: ChangeTest<Value>, _ run: FinishedRun
  ) -> ComputedResult {
    let last = run.previous?.use { ($0.value(of: Value.self), $0.version) }
    if let last, !changeTest(last.0, value) {
      return TypedComputedResult(
        last.0, version: last.1, shape: run.shape(isEqual: true), run.dependencies)
    }
    return TypedComputedResult(
      value, version: run.id, shape: run.shape(isEqual: false), run.dependencies)
  }

  @inlinable
  final func value<Value: Sendable>(of _: Value.Type) -> Value {
    unsafe unsafeDowncast(self, to: TypedComputedResult<Value>.self).value
  }
}

/// Unchecked like its superclass: all properties are constant.
@usableFromInline
final class TypedComputedResult<Value: Sendable>: ComputedResult, @unchecked Sendable {
  @usableFromInline let value: Value

  /// - Parameter version: The version of an equal value, or a new version.
  @inlinable
  init(_ value: Value, version: UInt, shape: UInt, _ dependencies: DependencyList) {
    self.value = value
    super.init(version: version, shape: shape, dependencies)
  }

  override func replacing(_ dependencies: DependencyList) -> ComputedResult {
    TypedComputedResult(value, version: version, shape: UniqueNumber.next() << 20, dependencies)
  }
}

/// The dependencies of a run, and the result of the run before it.
///
/// Exactly one result takes the dependencies. The caller of the run retains the previous result.
@usableFromInline
struct FinishedRun {
  /// A unique number.
  @usableFromInline let id: UInt
  @usableFromInline let dependencies: DependencyList
  @usableFromInline let previous: UnretainedReference<ComputedResult>?
  /// `true` if the index knows that the run has read the same, and `nil` for a run that has no index.
  let hasShape: Bool?

  /// Returns the shape of the previous result if the run has read the same, or else a new shape.
  ///
  /// Only an index uses the shape of a different value.
  @usableFromInline
  func shape(isEqual: Bool) -> UInt {
    guard isEqual || hasShape != nil, let previous else { return id }
    return previous.use { last in
      hasShape == true || dependencies.haveShape(of: last.dependencies) ? last.shape : id
    }
  }
}
