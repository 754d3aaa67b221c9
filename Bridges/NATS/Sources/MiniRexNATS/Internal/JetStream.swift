internal import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What is asked of JetStream over its own subjects.
///
/// What libnats has for this waits for the answer on the thread that asks.
enum JetStream {
  struct Nothing: Codable, Sendable {}

  struct Refusal: Decodable, Sendable {
    struct Reason: Decodable, Sendable {
      let code: Int
      let errCode: Int?
      let description: String?
    }

    let error: Reason?
  }

  struct Appended: Decodable, Sendable {
    let seq: UInt64
  }

  struct Stream: Decodable, Sendable {
    let created: String
  }

  struct ConsumerWish: Encodable {
    let streamName: String
    let config: ReadingOrder.Config
  }

  struct Consumer: Decodable, Sendable {
    struct Position: Decodable, Sendable {
      let streamSeq: UInt64
    }

    let name: String
    let numPending: UInt64
    let delivered: Position
  }

  static func decode<Answer: Decodable>(
    _ type: Answer.Type, _ message: RawMessage, of stream: String
  ) -> Result<Answer, NATSError> {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let data = Data(message.bytes)
    do {
      if let reason = try decoder.decode(Refusal.self, from: data).error {
        return .failure(error(reason, of: stream))
      }
      return .success(try decoder.decode(type, from: data))
    } catch {
      return .failure(.undecodable("\(error)"))
    }
  }

  static func encode(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // Of numbers, texts and truth values only.
    return (try? encoder.encode(value)) ?? Data()
  }

  private static func error(_ reason: Refusal.Reason, of stream: String) -> NATSError {
    let words = reason.description ?? ""
    switch reason.errCode {
    case 10071: return .revision(words.split(separator: " ").last.flatMap { UInt64($0) })
    case 10059: return .noStream(stream)
    default: return .jetStream(code: reason.errCode ?? reason.code, message: words)
    }
  }
}

extension Link {
  /// Asks JetStream something, which must answer in time.
  func ask<Answer: Decodable & Sendable>(
    _ type: Answer.Type, of stream: String, on subject: String, _ body: Data,
    headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
  ) -> PublishedTask<Answer, NATSError> {
    PublishedTask<Answer, NATSError> { [self] finish in
      body.withUnsafeBytes { bytes in
        request(
          Outgoing(subject: subject, headers: headers, bytes: bytes), tellsOfLeaving: false
        ) { answer in
          switch answer {
          case .result(let message): finish(JetStream.decode(type, message, of: stream))
          case .progress: break
          case .failure(let error): finish(.failure(error))
          }
        }
      }
    }.timeout(after: timeout).mapError { $0.flattened }
  }
}
