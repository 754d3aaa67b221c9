public import MiniRex

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The failure of a task that decodes its data.
public enum DecodingFailure<Failure: Error>: Error {
  /// The task failed before it had data.
  case task(Failure)

  /// The data could not be decoded.
  case decoding(DecodingError)
}

extension Publisher where Kind == TaskKind {
  /// Decodes the success from JSON.
  ///
  /// Decoding runs once per subscriber, where the task emits. The work still runs once.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: A decoder. It is created for each decoding, so that none is shared:
  ///     `.decode(User.self, using: makeDecoder())`.
  public func decode<Value: Decodable & Sendable, Failure: Error>(
    _ type: Value.Type,
    using decoder: @autoclosure @escaping @Sendable () -> JSONDecoder = JSONDecoder()
  ) -> PublishedTask<Value, DecodingFailure<Failure>> where Update == Result<Data, Failure> {
    PublishedTask<Value, DecodingFailure<Failure>>(of: self, value: .none) { receive in
      follow { receive(decoded($0, using: decoder)) }
    }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Decodes the success from JSON, and keeps the progress.
  ///
  /// See the overload for a task without progress.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: A decoder. It is created for each decoding, so that none is shared.
  public func decode<Progress: Sendable, Value: Decodable & Sendable, Failure: Error>(
    _ type: Value.Type,
    using decoder: @autoclosure @escaping @Sendable () -> JSONDecoder = JSONDecoder()
  ) -> ProgressiveTask<Progress, Value, DecodingFailure<Failure>>
  where Update == TaskUpdate<Progress, Data, Failure> {
    ProgressiveTask<Progress, Value, DecodingFailure<Failure>>(of: self, value: .none) {
      receive in
      follow { update in
        switch update {
        case .progress(let progress): receive(.progress(progress))
        case .finished(let result): receive(.finished(decoded(result, using: decoder)))
        }
      }
    }
  }
}

private func decoded<Value: Decodable, Failure: Error>(
  _ result: Result<Data, Failure>, using decoder: () -> JSONDecoder
) -> Result<Value, DecodingFailure<Failure>> {
  do throws(Failure) {
    let data = try result.get()
    do {
      return .success(try decoder().decode(Value.self, from: data))
    } catch let error as DecodingError {
      return .failure(.decoding(error))
    } catch {
      // A type's `init(from:)` may throw any error.
      let context = DecodingError.Context(
        codingPath: [], debugDescription: "Decoding has failed.", underlyingError: error)
      return .failure(.decoding(.dataCorrupted(context)))
    }
  } catch {
    return .failure(.task(error))
  }
}
