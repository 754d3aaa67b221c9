#if NATS
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An endpoint of a service, with its counters.
struct ServiceEndpoint: Sendable {
  let name: String
  let subject: String
  let queue: String
  let metadata: [String: String]
  let counters: ServiceCounters
  let start: @Sendable () -> Subscription
}

/// The answers of a service to discovery, as `io.nats.micro.v1` specifies them.
struct ServiceReport: Sendable {
  enum Verb: String, CaseIterable, Sendable {
    case ping = "PING"
    case info = "INFO"
    case stats = "STATS"
  }

  private struct Answer: Encodable {
    var type: String
    let name: String
    let id: String
    let version: String
    let metadata: [String: String]
    var description: String?
    var started: String?
    var endpoints: [Endpoint]?
  }

  private struct Endpoint: Encodable {
    let name: String
    let subject: String
    let queueGroup: String
    var metadata: [String: String]?
    var numRequests: Int?
    var numErrors: Int?
    var lastError: String?
    var processingTime: Int64?
    var averageProcessingTime: Int64?
  }

  let name: String
  let id: String
  let version: String
  let description: String
  let metadata: [String: String]
  let endpoints: [ServiceEndpoint]
  private let started = Timestamp.now.text

  init(
    name: String, id: String, version: String, description: String, metadata: [String: String],
    endpoints: [ServiceEndpoint]
  ) {
    (self.name, self.id, self.version) = (name, id, version)
    (self.description, self.metadata, self.endpoints) = (description, metadata, endpoints)
  }

  func subjects(of verb: Verb) -> [String] {
    let all = "$SRV.\(verb.rawValue)"
    return [all, "\(all).\(name)", "\(all).\(name).\(id)"]
  }

  func text(for verb: Verb) -> String {
    var answer = Answer(
      type: "io.nats.micro.v1.\(verb.rawValue.lowercased())_response", name: name, id: id,
      version: version, metadata: metadata)
    switch verb {
    case .ping: break
    case .info:
      answer.description = description
      answer.endpoints = endpoints.map {
        Endpoint(
          name: $0.name, subject: $0.subject, queueGroup: $0.queue, metadata: $0.metadata)
      }
    case .stats:
      answer.started = started
      answer.endpoints = endpoints.map { endpoint in
        let counts = endpoint.counters.current
        return Endpoint(
          name: endpoint.name, subject: endpoint.subject, queueGroup: endpoint.queue,
          numRequests: counts.requests, numErrors: counts.errors, lastError: counts.lastError,
          processingTime: counts.nanoseconds,
          averageProcessingTime: counts.nanoseconds / Int64(max(1, counts.requests)))
      }
    }
    return String(decoding: JetStream.encode(answer), as: UTF8.self)
  }
}

/// Counts the requests of one endpoint.
final class ServiceCounters: Sendable {
  struct Counts: Sendable {
    var requests = 0
    var errors = 0
    var lastError = ""
    var nanoseconds: Int64 = 0
  }

  private let counts = Lock(Counts())

  var current: Counts { counts.withLock { $0 } }

  func count<Answer>(_ result: Result<Answer, any Error>, took duration: Duration) {
    // A description is user code.
    let words: String? = if case .failure(let error) = result { "\(error)" } else { nil }
    counts.withLock { counts in
      counts.requests += 1
      let (seconds, attoseconds) = duration.components
      counts.nanoseconds += seconds * 1_000_000_000 + attoseconds / 1_000_000_000
      guard let words else { return }
      counts.errors += 1
      counts.lastError = words
    }
  }
}
#endif
