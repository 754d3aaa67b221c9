/// Why a task with a timeout has failed.
public enum TimeoutError<Failure: Error>: Error {
  /// It had no result in time.
  case timedOut
  /// It had a result in time: this failure.
  case failed(Failure)
}

extension TimeoutError: Equatable where Failure: Equatable {}

extension TimeoutError: Hashable where Failure: Hashable {}
