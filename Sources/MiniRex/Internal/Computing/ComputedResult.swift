/// The result of one run of a computed value.
///
/// Unchecked, because its subclass has a value of any type. All properties are constant.
@usableFromInline
class ComputedResult: @unchecked Sendable {
  /// Equal for equal successive values of one computed value.
  @usableFromInline let version: UInt
  /// In the order of the reads.
  let dependencies: DependencyList
  /// Equal for results with the same dependencies at any depth.
  let shape: UInt
  /// `true` if a dependency does not report its changes.
  let isVolatile: Bool
  /// The places of the values that it depends on, at any depth.
  let places: PlaceRange

  /// - Parameter dependencies: The reads of the run, which this object releases.
  @usableFromInline
  init(
    version: UInt, _ dependencies: DependencyList, after previous: Unmanaged<ComputedResult>?
  ) {
    self.version = version
    self.dependencies = dependencies
    let known = unsafe previous?._withUnsafeGuaranteedRef {
      $0.dependencies.haveShape(of: dependencies) ? ($0.shape, $0.isVolatile, $0.places) : nil
    }
    if let known = known ?? nil {
      (shape, isVolatile, places) = known
    } else {
      shape = UniqueNumber.next()
      isVolatile = dependencies.contains { $0.isVolatile }
      places = dependencies.places
    }
  }

  deinit {
    dependencies.free()
  }

  /// Returns the same result with equal results of dependencies, by their indices.
  final func replacing(_ results: [Int: ComputedResult]) -> ComputedResult {
    let list = dependencies.enumerated().map { index, old in
      results[index].map { new in old.withNode { Dependency($0, new) } } ?? old.retained()
    }
    return unsafe replacing(list.withUnsafeBufferPointer { unsafe DependencyList($0) })
  }

  func replacing(_ dependencies: DependencyList) -> ComputedResult { self }

  /// Returns the result of a run, which keeps the version of an equal value.
  @inlinable
  static func of<Value: Sendable>(
    _ value: Value, _ changeTest: ChangeTest<Value>, _ run: FinishedRun
  ) -> ComputedResult {
    let last = unsafe run.previous?._withUnsafeGuaranteedRef {
      ($0.value(of: Value.self), $0.version)
    }
    if let last, !changeTest(last.0, value) {
      return TypedComputedResult(last.0, version: last.1, run)
    }
    return TypedComputedResult(value, run)
  }

  /// Unique while the object is in memory.
  final var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  @inlinable
  final func value<Value: Sendable>(of _: Value.Type) -> Value {
    unsafe unsafeDowncast(self, to: TypedComputedResult<Value>.self).value
  }
}

/// Unchecked like its superclass: all properties are constant.
@usableFromInline
final class TypedComputedResult<Value: Sendable>: ComputedResult, @unchecked Sendable {
  @usableFromInline let value: Value

  /// - Parameter version: The version of an equal value, or `nil` for a new one.
  @inlinable
  init(_ value: Value, version: UInt? = nil, _ run: FinishedRun) {
    self.value = value
    unsafe super.init(version: version ?? run.id, run.dependencies, after: run.previous)
  }

  private init(
    _ value: Value, replacing dependencies: DependencyList,
    of result: ComputedResult
  ) {
    self.value = value
    unsafe super.init(
      version: result.version, dependencies, after: .passUnretained(result))
  }

  override func replacing(_ dependencies: DependencyList) -> ComputedResult {
    TypedComputedResult(value, replacing: dependencies, of: self)
  }
}

/// The dependencies of a run, and the result of the run before it.
///
/// Exactly one result takes the dependencies. The caller of the run retains the previous result.
@safe @usableFromInline
struct FinishedRun {
  /// A unique number.
  @usableFromInline let id: UInt
  @usableFromInline let dependencies: DependencyList
  @usableFromInline let previous: Unmanaged<ComputedResult>?
}
