#if NATS
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexNATS

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A state, and the sequence of the last action in it.
struct ReplicaSnapshot<State: Codable & Sendable>: Codable, Sendable {
  let sequence: UInt64
  let state: State
  /// `nil` in a snapshot of an earlier version.
  var origins: ReplicaOrigins?
}

private struct SnapshotHead: Decodable {
  let sequence: UInt64
}

/// Reads and writes the snapshot of a stream.
final class ReplicaSnapshots<State: Codable & Sendable>: Sendable {
  let failure = PublishedProperty<NATSError?>(nil)
  private let bucket: NATSBucket?
  private let key: String
  private let distance: UInt64

  init(in bucket: NATSBucket?, key: String, every distance: UInt64) {
    (self.bucket, self.key, self.distance) = (bucket, key, distance)
  }

  func read() async throws(ReplicaFailure) -> ReplicaSnapshot<State>? {
    guard let bucket else { return nil }
    let entries = bucket.publishedEntry(of: Data.self, for: key)
    for await entry in entries.values(.unbounded) {
      switch entry {
      case .unknown: continue
      case .absent: return nil
      case .present(let data, _):
        do {
          return try makeDecoder().decode(ReplicaSnapshot<State>.self, from: data)
        } catch {
          throw .snapshot(key: key, reason: "\(error)")
        }
      }
    }
    throw .closed
  }

  /// Returns `true` if no earlier entry is at or after the same multiple of the distance.
  func isDue(at sequence: UInt64, after last: UInt64) -> Bool {
    bucket != nil && sequence / distance > last / distance
  }

  /// Encodes and writes the snapshot on another thread.
  func write(_ snapshot: ReplicaSnapshot<State>) {
    guard let bucket else { return }
    Task.detached { [self] in
      do throws(NATSError) {
        try await replace(snapshot, in: bucket)
        failure.value = nil
      } catch {
        failure.value = error
      }
    }
  }

  /// Replaces the snapshot, unless the stored one is newer.
  ///
  /// After a concurrent write, it reads the stored snapshot again.
  private func replace(
    _ snapshot: ReplicaSnapshot<State>, in bucket: NATSBucket
  ) async throws(NATSError) {
    let data: Data
    do {
      data = try makeEncoder().encode(snapshot)
    } catch {
      throw .notEncodable("\(error)")
    }
    let entries = bucket.publishedEntry(of: Data.self, for: key)
    for await entry in entries.values(.unbounded) {
      guard let revision = entry.revision else { continue }
      let old = entry.value.flatMap { try? makeDecoder().decode(SnapshotHead.self, from: $0) }
      if let old, old.sequence >= snapshot.sequence { return }
      switch await bucket.put(data, for: key, replacing: revision).result {
      case .success?: return
      case .failure(.revision)?: continue
      case .failure(let error)?: throw error
      case nil: throw .closed
      }
    }
    throw .closed
  }
}
#endif
