/// The result of one run of a computed value.
@usableFromInline
class ComputedResult: @unchecked Sendable {
  /// Equal for equal successive values of one computed value.
  @usableFromInline let version: UInt
  @usableFromInline let dependencies: [Dependency]
  /// Equal for results with the same dependencies at any depth.
  let shape: UInt
  /// `true` if a dependency does not report its changes.
  let isVolatile: Bool

  @usableFromInline
  init(version: UInt, _ dependencies: [Dependency], after previous: ComputedResult?) {
    self.version = version
    self.dependencies = dependencies
    isVolatile = dependencies.contains {
      switch $0 {
      case .value(let record): record.storage.origin != nil
      case .computed(_, let result): result.isVolatile
      }
    }
    if let previous, previous.dependencies.count == dependencies.count,
      zip(previous.dependencies, dependencies).allSatisfy({ $0.hasShape(of: $1) })
    {
      shape = previous.shape
    } else {
      shape = UniqueNumber.next()
    }
  }

  /// Returns the same result with dependencies that have run again, and are equal.
  func replacing(_ dependencies: [Dependency]) -> ComputedResult { self }

  /// Returns the result of a run, which keeps the version of an equal value.
  @inlinable
  static func of<Value: Sendable>(
    _ value: Value, _ changeTest: ChangeTest<Value>, _ run: FinishedRun
  ) -> ComputedResult {
    if let previous = run.previous {
      let last = previous.value(of: Value.self)
      if !changeTest(last, value) {
        return TypedComputedResult(last, version: previous.version, run)
      }
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
    super.init(version: version ?? run.id, run.dependencies, after: run.previous)
  }

  private init(_ value: Value, replacing dependencies: [Dependency], of result: ComputedResult) {
    self.value = value
    super.init(version: result.version, dependencies, after: result)
  }

  override func replacing(_ dependencies: [Dependency]) -> ComputedResult {
    TypedComputedResult(value, replacing: dependencies, of: self)
  }
}

/// The dependencies of a run, and the result of the run before it.
@usableFromInline
struct FinishedRun {
  /// A unique number.
  @usableFromInline let id: UInt
  @usableFromInline let dependencies: [Dependency]
  @usableFromInline let previous: ComputedResult?
}
