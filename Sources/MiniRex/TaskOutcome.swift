/// An update of a task: its result, or progress before it.
///
/// It lets `value` name the two types of a ``PublishedTask`` and of a ``ProgressiveTask``.
public protocol TaskOutcome<Success, Failure> {
  /// The type of a successful result.
  associatedtype Success
  /// The type of a failure.
  associatedtype Failure: Error

  /// The result, or `nil` if this update is progress.
  var finalResult: Result<Success, Failure>? { get }
}

extension Result: TaskOutcome {
  /// The result itself.
  public var finalResult: Result<Success, Failure>? { self }
}

extension TaskUpdate: TaskOutcome {
  /// The result, or `nil` if this update is progress.
  public var finalResult: Result<Success, Failure>? {
    if case .finished(let result) = self { result } else { nil }
  }
}
