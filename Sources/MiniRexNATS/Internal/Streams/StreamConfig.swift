#if NATS
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The configuration of a stream, in the server's spelling.
struct StreamConfig: Encodable, Sendable {
  struct Mirror: Encodable, Sendable {
    struct External: Encodable, Sendable { let api: String }

    let name: String
    let external: External?

    /// - Parameter prefix: The characters before the name, which turn a bucket into its stream.
    init(_ mirror: NATSMirror, prefix: String = "") {
      name = prefix + mirror.name
      external = mirror.domain.map { External(api: "$JS.\($0).API") }
    }
  }

  let name: String
  let subjects: [String]?
  var maxMsgsPerSubject = -1
  var maxMsgs = -1
  let maxAge: Int64
  let maxBytes: Int
  let storage: String
  let numReplicas: Int
  var allowRollupHdrs = false
  var denyDelete = false
  var allowDirect = false
  /// A Boolean value that indicates whether messages can have expirations, or `nil` for the default.
  var allowMsgTtl: Bool?
  var discard = "old"
  var duplicateWindow: Int64?
  let retention = "limits"
  let maxConsumers = -1
  let mirror: Mirror?
  let mirrorDirect: Bool

  init(
    _ name: String, subjects: [String], mirror: Mirror?, maxAge: Duration?, maxBytes: Int?,
    inMemory: Bool, replicas: Int
  ) {
    self.name = name
    self.subjects = mirror == nil ? subjects : nil
    self.mirror = mirror
    mirrorDirect = mirror != nil
    self.maxAge = maxAge?.inNanoseconds ?? 0
    self.maxBytes = maxBytes ?? -1
    storage = inMemory ? "memory" : "file"
    numReplicas = replicas
  }

  /// The part of a stored configuration that decides which messages the stream has.
  struct Existing: Decodable, Sendable {
    struct Mirror: Decodable, Sendable { let name: String }

    let subjects: [String]?
    let maxMsgsPerSubject: Int?
    let maxMsgs: Int
    let maxAge: Int64
    let maxBytes: Int
    let storage: String
    let numReplicas: Int
    let discard: String
    let retention: String
    let duplicateWindow: Int64?
    let mirror: Mirror?

    /// Returns a Boolean value that indicates whether the stream stores messages on the subject.
    func takes(_ subject: String) -> Bool {
      (subjects ?? []).contains { Subject.matches($0, subject) }
    }

    /// The reason why the server may remove messages without a request, or `nil`.
    var removal: String? {
      if maxAge > 0 { return "'maxAge' removes its messages." }
      if retention != "limits" { return "Its retention '\(retention)' removes its messages." }
      if discard != "old" { return nil }
      let limits = [
        ("maxMessages", maxMsgs), ("maxBytes", maxBytes),
        ("maxMessagesPerSubject", maxMsgsPerSubject ?? -1),
      ]
      return limits.first { $0.1 > 0 }.map { name, limit in
        "'\(name)' of \(limit) removes its oldest messages. Use the discard policy '.new', or no limit."
      }
    }
  }

  /// Returns a Boolean value that indicates whether the stream keeps the messages that this one would.
  ///
  /// Other clients add settings that do not matter here, for example a description.
  func isServed(by other: Existing) -> Bool {
    let isLimited = maxMsgs > 0 || maxBytes > 0
    return Set(subjects ?? []) == Set(other.subjects ?? []) && mirror?.name == other.mirror?.name
      && maxAge == other.maxAge && storage == other.storage && numReplicas == other.numReplicas
      && isSame(maxMsgs, other.maxMsgs) && isSame(maxBytes, other.maxBytes)
      && isSame(maxMsgsPerSubject, other.maxMsgsPerSubject ?? -1)
      && duplicateWindow ?? other.duplicateWindow == other.duplicateWindow
      && retention == other.retention && (!isLimited || discard == other.discard)
  }

  /// 0 and -1 are both unlimited.
  private func isSame(_ limit: Int, _ other: Int) -> Bool { max(limit, 0) == max(other, 0) }
}

extension ConnectionCore {
  func create(_ config: StreamConfig, in domain: String?) -> PublishedTask<Void, NATSError> {
    let stream = StreamID(name: config.name, domain: domain)
    return ask(
      JetStream.Nothing.self, stream, on: stream.subject("STREAM.CREATE"), JetStream.encode(config)
    ).map { _ in }.recover { [self] error in
      guard error.isOtherConfiguration else { return .failure(error) }
      return streamInfo(stream).flatMap { existing in
        config.isServed(by: existing.config) ? .success(()) : .failure(error)
      }
    }
  }

  func removeStream(_ stream: StreamID) -> PublishedTask<Void, NATSError> {
    ask(
      JetStream.Nothing.self, stream, on: stream.subject("STREAM.DELETE"),
      JetStream.encode(JetStream.Nothing())
    ).map { _ in }
  }
}

extension Duration {
  var inNanoseconds: Int64 {
    let (product, overflows) = inMilliseconds.multipliedReportingOverflow(by: 1_000_000)
    return overflows ? .max : product
  }
}
#endif
