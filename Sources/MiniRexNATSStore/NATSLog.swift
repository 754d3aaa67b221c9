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
  package let snapshotDistance: Int
  private let stream: NATSStream
  private let snapshots: NATSSnapshots

  fileprivate init(
    _ name: String, over nats: NATSConnection, snapshotEvery distance: Int, keeping count: Int
  ) {
    self.name = name
    snapshotDistance = distance
    stream = nats.stream(name)
    snapshots = NATSSnapshots(of: stream, over: nats, keeping: count)
  }

  /// Creates the stream and the bucket, or succeeds if they exist with the options that replicas need.
  ///
  /// - Parameter replicas: The number of servers of a cluster that store them.
  package func create(replicas: Int = 1) -> PublishedTask<Void, NATSError> {
    var options = NATSStreamOptions()
    options.replicas = replicas
    var bucketOptions = NATSBucketOptions()
    bucketOptions.replicas = replicas
    return stream.createForReplicas(options).flatMap { [snapshots, bucketOptions] in
      snapshots.bucket.create(bucketOptions)
    }
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
            first: state.first, last: state.last, lastTime: state.lastTime,
            entry: state.message.map(Self.entry)))
      case .disconnected: .disconnected
      case .message(let message): .entry(Self.entry(message))
      case .unsuitable(let reason): .unsuitable(reason)
      }
    }
  }

  package func snapshot() -> PublishedTask<Data?, ReplicaLogError> {
    PublishedTask { [snapshots] () async throws(ReplicaLogError) in try await snapshots.read() }
  }

  package func digests() -> Broadcaster<ReplicaDigest> { snapshots.digests() }

  package func replaceSnapshot(
    _ snapshot: ReplicaLogSnapshot
  ) -> PublishedTask<Void, ReplicaLogError> {
    PublishedTask { [snapshots] () async throws(ReplicaLogError) in
      try await snapshots.replace(snapshot)
    }
  }

  private static func entry(_ message: NATSLogMessage) -> ReplicaLogEntry {
    ReplicaLogEntry(
      sequence: message.sequence, time: message.time,
      ReplicaMessage(header: message.headers[header] ?? "", payload: message.payload))
  }
}

extension NATSConnection {
  /// Returns the log in the stream with a name, whether it exists or not.
  ///
  /// - Parameters:
  ///   - name: The name of the stream. The bucket of its snapshots has the suffix `-snapshots`.
  ///   - distance: The number of actions between two snapshots. The default is 1,000, and 0 means never. Traps if less
  ///     than 0.
  ///   - count: The number of entries that stay before a snapshot. A replica further behind loads the snapshot. The
  ///     default is 10,000. Traps if less than 0.
  package func log(
    _ name: String, snapshotEvery distance: Int = 1_000, keeping count: Int = 10_000
  ) -> NATSLog {
    if distance < 0 || count < 0 {
      misuse("'log' requires counts of 0 or more, not \(distance) and \(count).")
    }
    return NATSLog(name, over: self, snapshotEvery: distance, keeping: count)
  }
}
#endif
