internal import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a stream is made with, as the server spells it.
struct StreamConfig: Encodable, Sendable {
  let name: String
  let subjects: [String]
  var maxMsgsPerSubject = -1
  var maxMsgs = -1
  let maxAge: Int64
  let maxBytes: Int
  let storage: String
  let numReplicas: Int
  var allowRollupHdrs = false
  var denyDelete = false
  var allowDirect = false
  var discard = "old"
  let retention = "limits"
  let maxConsumers = -1

  init(
    _ name: String, subjects: [String], maxAge: Duration?, maxBytes: Int?, inMemory: Bool,
    replicas: Int
  ) {
    self.name = name
    self.subjects = subjects
    self.maxAge = maxAge?.inNanoseconds ?? 0
    self.maxBytes = maxBytes ?? -1
    storage = inMemory ? "memory" : "file"
    numReplicas = replicas
  }
}

extension Link {
  func create(_ config: StreamConfig) -> PublishedTask<Void, NATSError> {
    ask(
      JetStream.Nothing.self, of: config.name, on: "$JS.API.STREAM.CREATE.\(config.name)",
      JetStream.encode(config)
    ).map { _ in }
  }

  func removeStream(_ name: String) -> PublishedTask<Void, NATSError> {
    ask(
      JetStream.Nothing.self, of: name, on: "$JS.API.STREAM.DELETE.\(name)",
      JetStream.encode(JetStream.Nothing())
    ).map { _ in }
  }

  /// Appends to a stream, and gives the sequence; a bucket's revision is one, too.
  func append(
    _ data: Data, to stream: String, on subject: String, headers: NATSHeaders,
    timeout: Duration = .seconds(5)
  ) -> PublishedTask<UInt64, NATSError> {
    ask(
      JetStream.Appended.self, of: stream, on: subject, data, headers: headers, timeout: timeout
    ).mapError { $0 == .noResponders ? .noStream(stream) : $0 }.map(\.seq)
  }
}

extension Duration {
  var inNanoseconds: Int64 {
    let (product, overflows) = inMilliseconds.multipliedReportingOverflow(by: 1_000_000)
    return overflows ? .max : product
  }
}
