#if NATS
package import MiniRex
package import MiniRexNATS
package import MiniRexReplica

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A stream whose messages are the entries of replicas, with a bucket for their snapshots.
///
/// Retain the connection. A stream that may lose entries is refused.
package final class NATSLog: ReplicaLog {
  private static let header = "MiniRex-Replica"

  /// The name of the stream, its only subject, and the first part of the bucket's name.
  package let name: String
  private let stream: NATSStream

  fileprivate init(_ name: String, over nats: NATSConnection) {
    self.name = name
    stream = nats.stream(name)
  }

  /// Creates the stream, or succeeds if it exists with the options that replicas need.
  ///
  /// - Parameter replicas: The number of servers of a cluster that store it.
  package func create(replicas: Int = 1) -> PublishedTask<Void, NATSError> {
    var options = NATSStreamOptions()
    options.replicas = replicas
    return stream.createForReplicas(options)
  }

  package func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
    stream.append(entry.payload, headers: [Self.header: entry.header])
      .mapError { ReplicaLogError("\($0)") }
  }

  package func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
    stream.log(after: sequence).map { event in
      switch event {
      case .connected(let state):
        .connected(
          ReplicaLogState(
            first: state.first, last: state.last, entry: state.message.map(Self.entry)))
      case .disconnected: .disconnected
      case .message(let message): .entry(Self.entry(message))
      case .unsuitable(let reason): .unsuitable(reason)
      }
    }
  }

  package func snapshot() -> PublishedTask<Data?, ReplicaLogError> { .success(nil) }

  private static func entry(_ message: NATSLogMessage) -> ReplicaLogEntry {
    ReplicaLogEntry(
      sequence: message.sequence, time: message.time,
      ReplicaMessage(header: message.headers[header] ?? "", payload: message.payload))
  }
}

extension NATSConnection {
  /// Returns the log in the stream with a name, whether it exists or not.
  package func log(_ name: String) -> NATSLog { NATSLog(name, over: self) }
}
#endif
