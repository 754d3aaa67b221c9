/// What a task tells: its result, or something before it.
///
/// It lets `value` name the two types of a ``PublishedTask`` and of a ``ProgressiveTask``.
public protocol TaskOutcome<Success, Failure> {
  /// What the task is for.
  associatedtype Success
  /// Why it may fail.
  associatedtype Failure: Error

  /// The result; `nil` if this is progress.
  var finalResult: Result<Success, Failure>? { get }
}

extension Result: TaskOutcome {
  /// The result itself.
  public var finalResult: Result<Success, Failure>? { self }
}

extension TaskUpdate: TaskOutcome {
  /// The result; `nil` if this is progress.
  public var finalResult: Result<Success, Failure>? {
    if case .finished(let result) = self { result } else { nil }
  }
}
