#if NATS
/// The keys of a bucket that a watcher has received, by their subjects.
struct BucketContent: Sendable {
  private struct Known {
    var revision: UInt64
    var time: UInt64
    var isPresent: Bool
  }

  /// A key whose message may no longer be stored.
  struct Doubt: Sendable {
    let subject: String
    let revision: UInt64
  }

  private var keys: [String: Known] = [:]
  /// The subjects in the current snapshot, or `nil` after its end.
  private var seen: Set<String>?
  /// A Boolean value that indicates whether older revisions are accepted, because the bucket
  /// returned to an earlier state.
  private var acceptsOlder = false
  /// A known key whose message in the snapshot is older, or is another message with its revision.
  private var contradicted: Doubt?

  /// Begins the messages of a new consumer, and a snapshot if the consumer reads one.
  ///
  /// - Returns: The keys whose last messages the watcher must request from the server.
  mutating func begin(_ beginning: OrderedConsumer.Beginning, isSnapshot: Bool) -> [Doubt] {
    seen = isSnapshot ? [] : nil
    contradicted = nil
    switch beginning {
    case .first, .again(isRemoved: false): return []
    case .again(isRemoved: true): return isSnapshot ? [] : present { _, _ in true }
    case .replaced, .rolledBack:
      acceptsOlder = true
      return []
    }
  }

  /// Returns `false` if the message is known, or older than the known message.
  mutating func take(_ subject: String, _ place: MessageMetadata, isPresent: Bool) -> Bool {
    seen?.insert(subject)
    if let known = keys[subject] {
      if known.revision == place.sequence, known.time == place.nanoseconds { return false }
      // A consumer on a server that lags behind delivers messages that are no longer current.
      if place.sequence <= known.revision, !acceptsOlder {
        if seen != nil { contradicted = Doubt(subject: subject, revision: known.revision) }
        return false
      }
    }
    keys[subject] = Known(
      revision: place.sequence, time: place.nanoseconds, isPresent: isPresent)
    return true
  }

  /// Returns a key whose message the snapshot contradicts, once.
  mutating func takeContradicted() -> Doubt? { contradicted.take() }

  /// Returns `true` if the key is still known by that message, and the leader has an earlier message as its last.
  func isRolledBack(_ doubt: Doubt, last sequence: UInt64, time: Int64?) -> Bool {
    guard let known = keys[doubt.subject], known.revision == doubt.revision else { return false }
    if sequence < known.revision { return true }
    return sequence == known.revision && time.map { $0 != Int64(clamping: known.time) } ?? false
  }

  /// Ends the snapshot, and returns the keys that were not in it.
  mutating func endSnapshot() -> (doubts: [Doubt], areRemoved: Bool) {
    defer { (seen, acceptsOlder) = (nil, false) }
    guard let seen else { return ([], false) }
    return (present { subject, _ in !seen.contains(subject) }, acceptsOlder)
  }

  /// A Boolean value that indicates whether the key is present with this revision.
  func has(_ doubt: Doubt) -> Bool {
    keys[doubt.subject].map { $0.isPresent && $0.revision == doubt.revision } ?? false
  }

  /// Returns `false` if the key has changed, or was absent.
  mutating func remove(_ doubt: Doubt) -> Bool {
    guard let known = keys[doubt.subject], known.revision == doubt.revision else { return false }
    keys[doubt.subject] = nil
    return known.isPresent
  }

  /// The keys whose messages precede the first message that the stream has.
  func expired(before sequence: UInt64) -> [Doubt] {
    present { _, known in known.revision < sequence }
  }

  /// The time of the oldest present message.
  var oldest: UInt64? { keys.values.lazy.filter(\.isPresent).map(\.time).min() }

  private func present(where isIncluded: (String, Known) -> Bool) -> [Doubt] {
    keys.filter { $0.value.isPresent && isIncluded($0.key, $0.value) }
      .map { Doubt(subject: $0.key, revision: $0.value.revision) }
      .sorted { $0.revision < $1.revision }
  }
}
#endif
