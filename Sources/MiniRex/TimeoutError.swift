/// The failure of a task with a timeout.
public enum TimeoutError<Failure: Error>: Error {
  /// The task did not finish before the timeout.
  case timedOut
  /// The task failed before the timeout.
  case failed(Failure)
}

extension TimeoutError: Equatable where Failure: Equatable {}

extension TimeoutError: Hashable where Failure: Hashable {}
