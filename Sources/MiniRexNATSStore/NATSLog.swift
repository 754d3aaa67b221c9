#if NATS
public import MiniRex
public import MiniRexNATS
public import MiniRexReplica

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A JetStream stream whose messages are the entries of replicas, with a bucket for their snapshots.
///
/// ```swift
/// let log = nats.log("board")
/// try await log.create(replicas: 3).value
/// let replica = try Replica(Board(), of: log, keptIn: folder, reducer: reduce)
/// ```
///
/// It does not retain the connection.
///
/// A replica refuses a stream with limits that remove old messages, or with other subjects than its name. With the
/// discard policy `.new`, a full stream keeps actions pending until an operator raises its limit.
public final class NATSLog: ReplicaLog {
  private static let header = "MiniRex-Replica"

  /// The name of the stream, its only subject, and the first part of the bucket's name.
  public let name: String

  /// The number of actions between two snapshots, or 0 for none.
  public let snapshotDistance: Int
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

  /// Creates the stream and the bucket, or succeeds if they exist with these options.
  ///
  /// Without a connection, it fails like each request. In a cluster, it fails until the servers have elected a leader.
  ///
  /// - Parameter replicas: The number of servers of a cluster that store both. The default is 1.
  public func create(replicas: Int = 1) -> PublishedTask<Void, NATSError> {
    var options = NATSStreamOptions()
    options.replicas = replicas
    return create(options)
  }

  /// Creates the stream and the bucket, or succeeds if they exist with these options.
  ///
  /// - Parameter options: The options of the stream. Its subject is its name in any case. A replica refuses limits
  ///   unless the discard policy is `.new`. The bucket has as many replicas as the stream.
  public func create(_ options: NATSStreamOptions) -> PublishedTask<Void, NATSError> {
    var options = options
    options.subjects = [name]
    var bucketOptions = NATSBucketOptions()
    bucketOptions.replicas = options.replicas
    return stream.create(options).flatMap { [snapshots, bucketOptions] in
      snapshots.bucket.create(bucketOptions)
    }
  }

  /// Publishes an entry to the subject of the stream.
  public func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
    stream.append(entry.payload, headers: [Self.header: entry.header])
      .mapError { error in
        let isRefusal = if case .jetStream = error { true } else { false }
        return ReplicaLogError("\(error)", isRefusal: isRefusal)
      }
  }

  /// Reads the stream with an ordered consumer for each connection.
  public func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
    stream.log(after: sequence).map { event in
      switch event {
      case .connected(let state):
        .connected(
          ReplicaLogState(
            first: state.first, last: state.last, lastTime: state.lastTime,
            entry: state.message.map(Self.entry)))
      case .disconnected: .disconnected
      case .message(let message): .entry(Self.entry(message))
      case .current: .current
      case .unsuitable(let reason): .unsuitable(reason)
      }
    }
  }

  /// Reads the chunks of a snapshot from the bucket.
  public func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError> {
    PublishedTask { [snapshots] () async throws(ReplicaLogError) in
      try await snapshots.read(through: sequence)
    }
  }

  /// Watches the key `head` of the bucket.
  public func digests() -> Broadcaster<ReplicaDigest> { snapshots.digests() }

  /// Writes a snapshot in chunks of 128 KiB to the bucket, and purges the stream.
  public func addSnapshot(
    _ snapshot: ReplicaLogSnapshot
  ) -> PublishedTask<Void, ReplicaLogError> {
    PublishedTask { [snapshots] () async throws(ReplicaLogError) in
      try await snapshots.add(snapshot)
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
  public func log(
    _ name: String, snapshotEvery distance: Int = 1_000, keeping count: Int = 10_000
  ) -> NATSLog {
    if distance < 0 || count < 0 {
      misuse("'log' requires counts of 0 or more, not \(distance) and \(count).")
    }
    return NATSLog(name, over: self, snapshotEvery: distance, keeping: count)
  }
}
#endif
