#if NATS
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stream in a JetStream domain, and the subjects of its requests.
struct StreamID: Hashable, Sendable {
  let name: String
  let domain: String?

  /// The subject of a request to JetStream, for example `$JS.API.STREAM.INFO.board`.
  ///
  /// - Parameter consumer: The last part of the subject, if the request is about a consumer.
  func subject(_ request: String, consumer: String? = nil) -> String {
    prefix + request + "." + name + (consumer.map { "." + $0 } ?? "")
  }

  /// The first parts of the subjects, with the last dot.
  var prefix: String { domain.map { "$JS.\($0).API." } ?? "$JS.API." }
}

/// The requests and the replies of JetStream.
///
/// libnats blocks the calling thread for these requests, so the bridge sends them itself.
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
    let stream: String
    let seq: UInt64
  }

  struct Stream: Decodable, Sendable {
    struct State: Decodable, Sendable {
      let messages: UInt64
      let firstSeq: UInt64
      let lastSeq: UInt64
      let lastTs: String?
    }

    let created: String
    let config: StreamConfig.Existing
    let state: State
    /// `nil` without a cluster.
    let cluster: StreamPeers?
    /// The time of the server, which older servers do not send.
    let ts: String?

    /// The latest time that the server is known to have reached, in nanoseconds since 1970, or 0.
    var time: Int64 {
      [state.lastTs, ts].compactMap { $0.flatMap { Timestamp($0)?.nanoseconds } }.max().map {
        max(0, $0)
      } ?? 0
    }
  }

  struct Stored: Decodable, Sendable {
    struct Message: Decodable, Sendable {
      let seq: UInt64
      let time: String
      let data: Data?
      /// The block of headers, as it was received.
      let hdrs: Data?
    }

    let message: Message
  }

  enum StoredQuery: Encodable, Sendable {
    case sequence(UInt64)
    case last(subject: String)

    private enum CodingKeys: String, CodingKey { case seq, lastBySubj }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .sequence(let sequence): try container.encode(sequence, forKey: .seq)
      case .last(let subject): try container.encode(subject, forKey: .lastBySubj)
      }
    }
  }

  struct ConsumerRequest<Config: Encodable>: Encodable {
    let streamName: String
    let config: Config
  }

  struct Consumer: Decodable, Sendable {
    struct Position: Decodable, Sendable {
      let consumerSeq: UInt64
      let streamSeq: UInt64
    }

    let name: String
    let created: String
    let numPending: UInt64
    let delivered: Position
  }

  static func decode<Answer: Decodable>(
    _ type: Answer.Type, _ message: RawMessage, of stream: String
  ) -> Result<Answer, NATSError> {
    if type == Appended.self,
      let appended = Appended(message.bytes, to: stream) as? Answer
    {
      return .success(appended)
    }
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
    // The requests contain numbers, strings, and Booleans only.
    return (try? encoder.encode(value)) ?? Data()
  }

  static func error(_ reason: Refusal.Reason, of stream: String) -> NATSError {
    let words = reason.description ?? ""
    switch reason.errCode {
    // A cluster of newer servers refuses with the second code, without the number.
    case 10071, 10164: return .revision(words.split(separator: " ").last.flatMap { UInt64($0) })
    // Without JetStream, in the server or for the account, no stream exists.
    case 10059, 10039, 10076: return .noStream(stream)
    // The others are rare, or have no remedy in code, and their words say what to do.
    default: return .jetStream(code: reason.errCode ?? reason.code, message: words)
    }
  }
}

extension NATSError {
  /// The consumer does not exist.
  var isMissingConsumer: Bool { if case .jetStream(10014, _) = self { true } else { false } }

  /// The stream has no message with the sequence or the subject.
  var isMissingMessage: Bool {
    switch self {
    case .jetStream(10037, _), .jetStream(10043, _): true
    default: false
    }
  }

  /// The stream exists with a different configuration.
  var isOtherConfiguration: Bool { if case .jetStream(10058, _) = self { true } else { false } }

  /// The maximum number of unacknowledged messages that the server permits, if a consumer exceeds
  /// it.
  ///
  /// - Parameter wanted: The number that the server refused.
  func limitOfUnacknowledged(below wanted: Int) -> Int? {
    guard case .jetStream(10121, let words) = self, wanted > 1 else { return nil }
    let limit = words.split(separator: " ").last.flatMap { Int($0) } ?? wanted / 2
    return max(1, min(limit, wanted - 1))
  }
}

extension ConnectionCore {
  /// Sends a request to JetStream, which has to reply before the timeout.
  func ask<Answer: Decodable & Sendable>(
    _ type: Answer.Type, _ stream: StreamID, on subject: String, _ body: Data,
    headers: NATSHeaders = [:], timeout: Duration = .seconds(5), atOnce: Bool = true
  ) -> PublishedTask<Answer, NATSError> {
    PublishedTask<Answer, NATSError> { [self] finish in
      askOnce(
        type, stream, on: subject, body, headers: headers, timeout: timeout, atOnce: atOnce
      ) { finish($0) }
    }
  }

  /// Sends the request without the cost of a task.
  ///
  /// - Parameters:
  ///   - timeout: The time within which the answer must arrive, or `nil` if the caller cancels the request.
  ///   - finish: Called with the answer. A concurrent timeout may call it once more.
  func askOnce<Answer: Decodable & Sendable>(
    _ type: Answer.Type, _ stream: StreamID, on subject: String, _ body: Data,
    headers: NATSHeaders, timeout: Duration?, atOnce: Bool,
    _ finish: @escaping @Sendable (Result<Answer, NATSError>) -> Void
  ) -> Subscription {
    if !Subject.isName(stream.name) {
      finish(.failure(.invalidSubject(stream.name)))
      return .ended
    }
    let timer = timeout.map { timeout in
      RequestTimeouts.shared.wait(for: max(.zero, timeout)) { finish(.failure(.timedOut)) }
    }
    let token = body.withUnsafeBytes { bytes in
      request(
        OutgoingMessage(subject: subject, headers: headers, bytes: bytes),
        sendsCancellation: false, atOnce: atOnce
      ) { answer in
        switch answer {
        case .result(let message): finish(JetStream.decode(type, message, of: stream.name))
        case .progress: break
        case .failure(let error): finish(.failure(error))
        }
      }
    }
    guard let timer else { return token }
    return Subscription {
      token.invalidate()
      timer.invalidate()
    }
  }

  func streamInfo(
    _ stream: StreamID, timeout: Duration = .seconds(5)
  ) -> PublishedTask<JetStream.Stream, NATSError> {
    ask(
      JetStream.Stream.self, stream, on: stream.subject("STREAM.INFO"),
      JetStream.encode(JetStream.Nothing()), timeout: timeout)
  }

  /// Reads a stored message from the leader of the stream.
  func stored(
    _ query: JetStream.StoredQuery, in stream: StreamID, timeout: Duration = .seconds(5)
  ) -> PublishedTask<JetStream.Stored.Message, NATSError> {
    ask(
      JetStream.Stored.self, stream, on: stream.subject("STREAM.MSG.GET"), JetStream.encode(query),
      timeout: timeout
    ).map(\.message)
  }
}
#endif
