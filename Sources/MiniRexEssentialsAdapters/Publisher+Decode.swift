public import MiniRex

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a task has no value that was decoded from its data.
public enum DecodingFailure<Failure: Error>: Error {
  /// There was no data.
  case task(Failure)

  /// The data was not that of such a value.
  case decoding(DecodingError)
}

extension Publisher where Kind == TaskKind {
  /// Decodes the success from JSON.
  ///
  /// It is decoded for each subscriber by itself, where the task calls it; the work still runs
  /// once.
  ///
  /// - Parameters:
  ///   - type: What the data is expected to describe.
  ///   - decoder: Made for each decoding, so that no two share one: `.decode(User.self, using:
  ///     makeDecoder())`.
  public func decode<Value: Decodable & Sendable, Failure: Error>(
    _ type: Value.Type,
    using decoder: @autoclosure @escaping @Sendable () -> JSONDecoder = JSONDecoder()
  ) -> PublishedTask<Value, DecodingFailure<Failure>> where Update == Result<Data, Failure> {
    PublishedTask<Value, DecodingFailure<Failure>>(of: self, current: { nil }) { receive in
      follow { receive(decoded($0, using: decoder)) }
    }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Decodes the success from JSON, and keeps the progress.
  ///
  /// Otherwise it is like that of a task without progress.
  ///
  /// - Parameters:
  ///   - type: What the data is expected to describe.
  ///   - decoder: Made for each decoding, so that no two share one.
  public func decode<Progress: Sendable, Value: Decodable & Sendable, Failure: Error>(
    _ type: Value.Type,
    using decoder: @autoclosure @escaping @Sendable () -> JSONDecoder = JSONDecoder()
  ) -> ProgressiveTask<Progress, Value, DecodingFailure<Failure>>
  where Update == TaskUpdate<Progress, Data, Failure> {
    ProgressiveTask<Progress, Value, DecodingFailure<Failure>>(of: self, current: { nil }) {
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
      // A type's own decoding may throw anything.
      let context = DecodingError.Context(
        codingPath: [], debugDescription: "Decoding has failed.", underlyingError: error)
      return .failure(.decoding(.dataCorrupted(context)))
    }
  } catch {
    return .failure(.task(error))
  }
}
