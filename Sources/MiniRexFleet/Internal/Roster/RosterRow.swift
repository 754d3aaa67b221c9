#if NATS
/// A process in the list of a page.
struct RosterRow: Sendable {
  /// The number of entries whose digests are compared with the digests of other processes.
  private static let digestLimit = 4

  let id: String
  private(set) var report: ReceivedReport
  private(set) var heardAt: ContinuousClock.Instant
  /// The digests of each replica, newest last, because replicas report the same entry at different times.
  private(set) var digests: [String: [ReceivedDigest]] = [:]
  private var dropsAt: ContinuousClock.Instant?
  /// The time of the last report of another process with this identifier.
  private var copiedAt: ContinuousClock.Instant?
  let joinedAt: ContinuousClock.Instant
  /// The number of lost processes that this one replaces, one after the other.
  var restartCount = 0
  var hasReplaced = false
  var isLost = false
  var isOtherVersion = false
  /// The names of the replicas whose state differs from the state of most replicas.
  var differences: [String] = []
  /// A Boolean value that indicates whether the pages have an older row.
  var hasChanged = true

  init(_ id: String, _ report: ReceivedReport, at now: ContinuousClock.Instant) {
    (self.id, self.report, heardAt, joinedAt) = (id, report, now, now)
    note(report)
  }

  /// Replaces the report.
  ///
  /// - Returns: `true` if the row has a new digest.
  mutating func take(_ new: ReceivedReport, at now: ContinuousClock.Instant) -> Bool {
    let old = report
    if (new.process, new.started, new.host) != (old.process, old.started, old.host) {
      copiedAt = now
    }
    if new.drops > old.drops { dropsAt = now }
    (report, heardAt, hasChanged, isLost) = (new, now, true, false)
    return note(new)
  }

  @discardableResult
  private mutating func note(_ report: ReceivedReport) -> Bool {
    var isNew = false
    let names = Set(report.replicas.map(\.name))
    for name in digests.keys where !names.contains(name) {
      digests[name] = nil
      isNew = true
    }
    for replica in report.replicas {
      guard let digest = replica.digest, digests[replica.name]?.last != digest else { continue }
      digests[replica.name, default: []].removeAll { $0.point >= digest.point }
      digests[replica.name]?.append(digest)
      if let count = digests[replica.name]?.count, count > Self.digestLimit {
        digests[replica.name]?.removeFirst()
      }
      isNew = true
    }
    return isNew
  }

  func isCopied(at now: ContinuousClock.Instant) -> Bool {
    copiedAt.map { now - $0 < .seconds(60) } ?? false
  }

  func concern(at now: ContinuousClock.Instant) -> Concern {
    if isLost { return .lost }
    if !differences.isEmpty || isCopied(at: now) { return .wrong }
    if !report.isReady || report.replicas.contains(where: { $0.phase == "stopped" }) {
      return .unready
    }
    let isDropping = dropsAt.map { now - $0 < .seconds(10) } ?? false
    let isBehind = report.replicas.contains { $0.phase != "current" }
    if isDropping || isBehind || report.backlog >= 1_000 { return .slow }
    return isOtherVersion ? .otherVersion : .none
  }
}
#endif
