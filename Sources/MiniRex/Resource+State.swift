extension Resource {
  /// The value of a resource, with everything that is known about it.
  ///
  /// All parts change together.
  public struct State: Sendable {
    /// The last value that was loaded or set, or `nil` if there is none or it was invalidated.
    public let value: Value?

    /// The failure of the last attempt to load, or `nil` if it succeeded.
    ///
    /// The value is not affected by it.
    public let failure: Failure?

    /// A Boolean value that indicates whether a load is in progress, including the delays between
    /// its attempts.
    public let isLoading: Bool

    /// A Boolean value that indicates whether the value is older than `staleAfter`.
    public let isStale: Bool

    /// The number of the change that set the value, and of the change that set the failure.
    ///
    /// It is 0 without a value or a failure. It distinguishes failures, and values of types that are
    /// not `Equatable`.
    let valueNumber: Int
    let failureNumber: Int
    let ageNow: (@Sendable () -> Duration)?

    init(
      _ value: Value?, _ failure: Failure?, isLoading: Bool, isStale: Bool, valueNumber: Int,
      failureNumber: Int, ageNow: (@Sendable () -> Duration)?
    ) {
      self.value = value
      self.failure = failure
      self.isLoading = isLoading
      self.isStale = isStale
      self.valueNumber = valueNumber
      self.failureNumber = failureNumber
      self.ageNow = ageNow
    }

    /// Creates a state for a preview or a test.
    public init(
      value: Value? = nil, failure: Failure? = nil, isLoading: Bool = false, isStale: Bool = false,
      age: Duration = .zero
    ) {
      self.init(
        value, failure, isLoading: isLoading, isStale: isStale, valueNumber: 0, failureNumber: 0,
        ageNow: { age })
    }

    /// The time since the value was loaded or set, or `nil` without a value.
    ///
    /// It is measured by the clock of the resource when you read it, so it grows without an update.
    public var age: Duration? { value == nil ? nil : ageNow?() }

    /// Returns the same state with a stale value.
    var stale: State {
      State(
        value, failure, isLoading: isLoading, isStale: true, valueNumber: valueNumber,
        failureNumber: failureNumber, ageNow: ageNow)
    }

    /// Returns `true` if a subscriber can see a difference between two states of one resource.
    func differs(from old: State, by changeTest: ChangeTest<Value?>) -> Bool {
      isLoading != old.isLoading || isStale != old.isStale || failureNumber != old.failureNumber
        || valueNumber != old.valueNumber && changeTest(old.value, value)
    }
  }
}

extension Resource.State: Equatable where Value: Equatable {
  /// Returns `true` if the states are equal, except for their ages.
  ///
  /// Failures are equal if they come from the same attempt, or if their type is `Equatable` and they
  /// are equal.
  public static func == (one: Self, other: Self) -> Bool {
    one.isLoading == other.isLoading && one.isStale == other.isStale && one.value == other.value
      && one.hasSameFailure(as: other)
  }

  private func hasSameFailure(as other: Self) -> Bool {
    guard let failure, let otherFailure = other.failure else {
      return failure == nil && other.failure == nil
    }
    if failureNumber != 0, failureNumber == other.failureNumber { return true }
    guard let failure = failure as? any Equatable else { return false }
    return failure.isEqual(to: otherFailure)
  }
}

extension Equatable {
  fileprivate func isEqual(to other: some Error) -> Bool { other as? Self == self }
}
