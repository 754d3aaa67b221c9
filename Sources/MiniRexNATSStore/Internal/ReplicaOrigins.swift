#if NATS
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The highest number of each origin that a replica has decided.
///
/// A copy of an entry that arrives late, for example from a lost connection, has a number that is not
/// higher. Every replica ignores it, because the table depends on nothing but the stream.
struct ReplicaOrigins: Codable, Sendable {
  private struct Last: Codable, Sendable {
    let number: Int
    /// The time that the server assigned to the entry.
    let date: Date
  }

  /// The seconds of stream time without an entry, after which an origin is removed.
  private static let lifetime = 30.0 * 86_400

  private var lasts: [String: Last] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    lasts = try decoder.singleValueContainer().decode([String: Last].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(lasts)
  }

  /// Returns `true` if the entry is not a copy.
  mutating func add(_ stamp: ReplicaStamp, at date: Date) -> Bool {
    if let last = lasts[stamp.origin], isAlive(last, at: date), stamp.number <= last.number {
      return false
    }
    lasts[stamp.origin] = Last(number: stamp.number, date: date)
    return true
  }

  /// Returns the origins that still count at `date`.
  func pruned(at date: Date) -> ReplicaOrigins {
    var origins = self
    origins.lasts = lasts.filter { isAlive($0.value, at: date) }
    return origins
  }

  private func isAlive(_ last: Last, at date: Date) -> Bool {
    date.timeIntervalSince(last.date) <= Self.lifetime
  }
}
#endif
