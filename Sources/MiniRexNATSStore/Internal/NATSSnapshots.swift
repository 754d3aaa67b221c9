#if NATS
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexNATS
internal import MiniRexReplica

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The two newest snapshots of a log, in a bucket with one key for its head and one for each chunk.
///
/// A writer reads the head, writes chunks under new keys, and then replaces the head that it has read. So a head always
/// names complete chunks. Chunks before the first chunk of the head are garbage: the head has replaced the head that
/// their writer has read.
struct NATSSnapshots: Sendable {
  struct Head: Codable, Sendable {
    /// The newest first.
    let snapshots: [StoredSnapshot]
  }

  struct StoredSnapshot: Codable, Sendable {
    let sequence: UInt64
    let time: Int64
    /// The first part of the keys of the chunks.
    let id: String
    let count: Int
    /// The revision of the first chunk.
    let first: UInt64
    let checksum: UInt32
  }

  private static let headKey = "head"
  private static let chunkSize = 128 << 10

  let bucket: NATSBucket
  /// The stream of the bucket.
  let content: NATSStream
  let stream: NATSStream
  let keptCount: UInt64

  init(of stream: NATSStream, over nats: NATSConnection, keeping count: Int) {
    let name = "\(stream.name)-snapshots"
    (self.stream, keptCount) = (stream, UInt64(count))
    (bucket, content) = (nats.bucket(name), nats.stream("KV_\(name)"))
  }

  func read(through sequence: UInt64) async throws(ReplicaLogError) -> Data? {
    // Another writer may replace the snapshot during the reads.
    for _ in 0..<10 {
      let stored = try await head()?.head.snapshots.first { $0.sequence <= sequence }
      guard let stored else { return nil }
      let chunks = try await success(of: bucket.values(matching: "\(stored.id).*").result)
      if chunks.count != stored.count { continue }
      let data = chunks.reduce(into: Data()) { $0 += $1.value }
      if Checksum.of([UInt8](data)[...]) == stored.checksum { return data }
      throw ReplicaLogError("The checksum of the snapshot \(stored.sequence) is wrong.")
    }
    throw ReplicaLogError("The snapshot has no chunks, or is being replaced.")
  }

  func digests() -> Broadcaster<ReplicaDigest> {
    let heads = bucket.publishedEntry(of: Head.self, for: Self.headKey)
    return Broadcaster { receive in
      heads.subscribe { entry in
        guard let newest = entry.value?.snapshots.first else { return }
        receive(
          ReplicaDigest(sequence: newest.sequence, time: newest.time, checksum: newest.checksum))
      }
    }
  }

  func add(_ snapshot: ReplicaLogSnapshot) async throws(ReplicaLogError) {
    let old = try await head()
    var previous: StoredSnapshot?
    for stored in old?.head.snapshots ?? [] where previous == nil {
      if try await isInLog(stored.sequence, stored.time) { previous = stored }
    }
    if let previous, previous.sequence >= snapshot.sequence { return }
    if !(try await isInLog(snapshot.sequence, snapshot.time)) {
      // Other writers may have stored newer snapshots, and removed this message.
      if try await head()?.revision != old?.revision { return try await add(snapshot) }
      throw ReplicaLogError("The stream no longer has the message \(snapshot.sequence).")
    }
    let new = try await write(snapshot)
    let head = Head(snapshots: [new] + (previous.map { [$0] } ?? []))
    switch await bucket.put(head, for: Self.headKey, replacing: old?.revision ?? NATSRevision.none)
      .result
    {
    case .success?: break
    // Another writer was first, and may have removed these chunks.
    case .failure(.revision)?: return try await add(snapshot)
    case let result: _ = try success(of: result)
    }
    let first = (previous ?? new).first
    _ = try await success(of: content.purge(before: first).result)
    // Without another snapshot, the entries are the only way to an earlier state.
    guard let previous else { return }
    // A purge that a restored stream receives would remove entries without a snapshot.
    if !(try await isInLog(snapshot.sequence, snapshot.time)) { return }
    let start = snapshot.sequence - min(snapshot.sequence, keptCount)
    _ = try await success(of: stream.purge(before: min(start, previous.sequence)).result)
  }

  private func write(_ snapshot: ReplicaLogSnapshot) async throws(ReplicaLogError) -> StoredSnapshot
  {
    let id = "\(snapshot.sequence)-\(UInt64.random(in: 0 ... .max))"
    var first: NATSRevision?
    var count = 0
    var rest = snapshot.data[...]
    repeat {
      let chunk = Data(rest.prefix(Self.chunkSize))
      rest = rest.dropFirst(Self.chunkSize)
      let revision = try await success(of: bucket.put(chunk, for: "\(id).\(count)").result)
      first = first ?? revision
      count += 1
    } while !rest.isEmpty
    return StoredSnapshot(
      sequence: snapshot.sequence, time: snapshot.time, id: id, count: count,
      first: first?.number ?? 0, checksum: Checksum.of([UInt8](snapshot.data)[...]))
  }

  private func head() async throws(ReplicaLogError) -> (head: Head, revision: NATSRevision)? {
    switch await bucket.history(of: Head.self, for: Self.headKey).result {
    // Without a bucket, the log has no snapshot. In a cluster, a server may not know the bucket yet, or no longer: a
    // replica asks repeatedly before it relies on this answer.
    case .failure(.noStream)?: return nil
    case let result:
      let entries = try success(of: result)
      guard case .present(let head, let revision)? = entries.last else { return nil }
      return (head, revision)
    }
  }

  /// Returns a Boolean value that indicates whether the stream has a message with the time.
  private func isInLog(_ sequence: UInt64, _ time: Int64) async throws(ReplicaLogError) -> Bool {
    try await success(of: stream.logState(at: sequence).result).message?.time == time
  }

  private func success<Value>(
    of result: Result<Value, NATSError>?
  ) throws(ReplicaLogError) -> Value {
    switch result {
    case .success(let value)?: return value
    case .failure(let error)?: throw ReplicaLogError("\(error)")
    case nil: throw ReplicaLogError("The connection was closed.")
    }
  }
}
#endif
