/// The state of a request: not started, pending, fulfilled, or rejected.
///
/// ```swift
/// guard state.counter.begin() else { return .none }
/// let load = PublishedTask { () async throws(LoadError) in
///   try await controller.counter(action.counter)
/// }
/// return .publisher { load.broadcaster.map { CounterLoaded(result: $0) } }
/// ```
///
/// A promise is a value: resolving a copy does not change the original.
public enum Promise<Success: Sendable, Failure: Error>: Sendable {
  /// The request was not started.
  case idle
  /// The request has no result yet.
  case pending
  /// The request succeeded.
  case fulfilled(Success)
  /// The request failed.
  case rejected(Failure)

  /// A Boolean value that indicates whether the request was not started.
  public var isIdle: Bool {
    if case .idle = self { true } else { false }
  }

  /// A Boolean value that indicates whether the request has no result yet.
  public var isPending: Bool {
    if case .pending = self { true } else { false }
  }

  /// A Boolean value that indicates whether the request succeeded or failed.
  public var isResolved: Bool { result != nil }

  /// The value of a successful request; otherwise, `nil`.
  public var value: Success? {
    if case .fulfilled(let value) = self { value } else { nil }
  }

  /// The error of a failed request; otherwise, `nil`.
  public var error: Failure? {
    if case .rejected(let error) = self { error } else { nil }
  }

  /// The result of a finished request; otherwise, `nil`.
  public var result: Result<Success, Failure>? {
    switch self {
    case .idle, .pending: nil
    case .fulfilled(let value): .success(value)
    case .rejected(let error): .failure(error)
    }
  }

  /// Makes the promise pending, even after a result.
  ///
  /// - Returns: `false` if the promise is already pending.
  @discardableResult
  public mutating func begin() -> Bool {
    if isPending { return false }
    self = .pending
    return true
  }

  /// Sets the result of a pending promise.
  ///
  /// - Returns: `false` if the promise is not pending. It does not change then.
  @discardableResult
  public mutating func resolve(_ result: Result<Success, Failure>) -> Bool {
    guard isPending else { return false }
    switch result {
    case .success(let value): self = .fulfilled(value)
    case .failure(let error): self = .rejected(error)
    }
    return true
  }
}

extension Promise: Equatable where Success: Equatable, Failure: Equatable {}
extension Promise: Hashable where Success: Hashable, Failure: Hashable {}
extension Promise: Encodable where Success: Encodable, Failure: Encodable {}
extension Promise: Decodable where Success: Decodable, Failure: Decodable {}
