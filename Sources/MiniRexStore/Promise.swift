/// A value that is asked for, may come, and may fail: a part of a state.
///
/// ```swift
/// guard state.counter.begin() else { return .none }
/// let load = PublishedTask { () async throws(LoadError) in
///   try await controller.counter(action.counter)
/// }
/// return .publisher { load.broadcaster.map { CounterLoaded(result: $0) } }
/// ```
///
/// It is a value: a copy that is resolved leaves the original as it was.
public enum Promise<Success: Sendable, Failure: Error>: Sendable {
  /// Not asked for.
  case idle
  /// Asked for.
  case pending
  /// It has come.
  case fulfilled(Success)
  /// It has failed.
  case rejected(Failure)

  /// True before it is asked for.
  public var isIdle: Bool {
    if case .idle = self { true } else { false }
  }

  /// True while it is asked for, and has not come.
  public var isPending: Bool {
    if case .pending = self { true } else { false }
  }

  /// True once it has come or failed.
  public var isResolved: Bool { result != nil }

  /// What has come; `nil` unless it has.
  public var value: Success? {
    if case .fulfilled(let value) = self { value } else { nil }
  }

  /// Why it has failed; `nil` unless it has.
  public var error: Failure? {
    if case .rejected(let error) = self { error } else { nil }
  }

  /// What has come of it; `nil` until something has.
  public var result: Result<Success, Failure>? {
    switch self {
    case .idle, .pending: nil
    case .fulfilled(let value): .success(value)
    case .rejected(let error): .failure(error)
    }
  }

  /// Makes it pending, also again after a result.
  ///
  /// - Returns: False if it is pending already.
  @discardableResult
  public mutating func begin() -> Bool {
    if isPending { return false }
    self = .pending
    return true
  }

  /// Gives it its result, if it is pending: the first one counts.
  ///
  /// - Returns: False if it is not pending; then it is left as it is.
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
