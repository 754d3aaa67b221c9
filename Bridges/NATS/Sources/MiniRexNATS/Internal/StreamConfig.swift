internal import MiniRex

/// What a stream is made with, as the server spells it.
struct StreamConfig: Encodable, Sendable {
  let name: String
  let subjects: [String]
  let maxMsgsPerSubject: Int
  var maxMsgs = -1
  let maxAge: Int64
  let maxBytes: Int
  let storage: String
  let numReplicas: Int
  var allowRollupHdrs = false
  var denyDelete = false
  var allowDirect = false
  let discard: String
  let retention = "limits"
  let maxConsumers = -1
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
    )
    .map { _ in }
  }
}
