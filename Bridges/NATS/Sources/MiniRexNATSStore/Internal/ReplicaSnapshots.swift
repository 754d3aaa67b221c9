internal import MiniRex
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

  /// Encodes and writes it elsewhere, if it is time for one.
  func write(_ state: State, at sequence: UInt64) {
    guard let bucket, sequence % distance == 0 else { return }
    Task.detached { [self] in
      do throws(NATSError) {
        try await replace(ReplicaSnapshot(sequence: sequence, state: state), in: bucket)
        failure.value = nil
      } catch {
        failure.value = error
      }
    }
  }

  /// One that was written later stays; if somebody else is first at the same time, it looks again.
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
