#if NATS
/// The processes of a fleet, as their reports describe them.
///
/// It depends on no clock: the caller passes the time.
struct Roster: Sendable {
  struct Limits: Sendable {
    /// The time without a report after which a process counts as lost.
    var silence = Duration.seconds(6)
    /// The time after which a lost process is removed.
    var memory = Duration.seconds(600)
    /// The maximum number of processes.
    var members = 5_000
  }

  private let limits: Limits
  private(set) var rows: [String: RosterRow] = [:]
  /// The number of reports that no member sent, or that exceeded the limit.
  private(set) var refusedCount = 0
  /// The identifiers of the rows that were removed since the last tick.
  private var removed: [String] = []
  /// The time since which the server answers, or `nil` while it does not.
  private var answersSince: ContinuousClock.Instant?
  private var mustCompare = false
  /// `false` if no process is known to be lost, so that a flood of identifiers costs no search.
  private var hasLost = false
  /// A Boolean value that indicates whether a process joined or was lost since the last tick.
  private var mustReplace = false

  init(_ limits: Limits = Limits()) { self.limits = limits }

  mutating func take(
    _ bytes: [UInt8], from id: some StringProtocol, at now: ContinuousClock.Instant
  ) {
    guard FleetSubject.isPart(id), let report = ReceivedReport(bytes) else {
      refusedCount += 1
      return
    }
    let id = String(id)
    if report.hasLeft {
      if rows[id] != nil { remove(id) }
    } else if let old = rows[id]?.report {
      let isNew = rows[id]?.take(report, at: now) ?? false
      mustCompare =
        mustCompare || isNew || (report.name, report.version) != (old.name, old.version)
    } else {
      if rows.count >= limits.members, !removeOldestLost() {
        refusedCount += 1
        return
      }
      rows[id] = RosterRow(id, report, at: now)
      (mustCompare, mustReplace) = (true, true)
    }
  }

  /// Decides about lost processes, versions, and replicas.
  ///
  /// - Returns: The rows that changed since the last call, and the identifiers of the removed rows.
  mutating func tick(
    at now: ContinuousClock.Instant, serverAnswers: Bool
  ) -> (changed: [RosterRow], removed: [String]) {
    answersSince = serverAnswers ? answersSince ?? now : nil
    if let answersSince {
      // Members report again after the server has returned.
      let due = { (row: RosterRow) in now - max(row.heardAt, answersSince) }
      for (id, row) in rows {
        if due(row) > limits.memory {
          remove(id)
        } else if !row.isLost, due(row) > limits.silence {
          rows[id]?.isLost = true
          rows[id]?.hasChanged = true
          (mustReplace, hasLost) = (true, true)
        }
      }
    }
    if mustReplace { replaceLost() }
    if mustCompare { compare() }
    defer { removed = [] }
    return (takeChanged(), removed)
  }

  /// Removes each lost process for which another has joined since, with its name and on its host.
  private mutating func replaceLost() {
    mustReplace = false
    let lost = rows.values.filter(\.isLost).sorted { $0.heardAt < $1.heardAt }
    if lost.isEmpty { return }
    var joined = Dictionary(grouping: rows.values.filter { !$0.isLost && !$0.hasReplaced }) {
      [$0.report.name, $0.report.host]
    }
    for row in lost {
      let key = [row.report.name, row.report.host]
      guard let index = joined[key]?.firstIndex(where: { $0.joinedAt > row.heardAt }),
        let id = joined[key]?.remove(at: index).id
      else { continue }
      rows[id]?.restartCount = row.restartCount + 1
      rows[id]?.hasReplaced = true
      rows[id]?.hasChanged = true
      remove(row.id)
    }
  }

  private mutating func takeChanged() -> [RosterRow] {
    var changed: [RosterRow] = []
    for (id, row) in rows where row.hasChanged {
      rows[id]?.hasChanged = false
      changed.append(row)
    }
    return changed
  }

  private mutating func compare() {
    mustCompare = false
    let divergence = Divergence(rows.values)
    let versions = Versions(rows.values.map(\.report))
    for (id, row) in rows {
      let isOther = versions.isOther(row.report)
      let differences = divergence.names[id] ?? []
      if row.isOtherVersion == isOther, row.differences == differences { continue }
      rows[id]?.isOtherVersion = isOther
      rows[id]?.differences = differences
      rows[id]?.hasChanged = true
    }
  }

  private mutating func remove(_ id: String) {
    rows[id] = nil
    removed.append(id)
    mustCompare = true
  }

  /// Returns `false` if no process is lost.
  private mutating func removeOldestLost() -> Bool {
    if !hasLost { return false }
    let oldest = rows.values.filter(\.isLost).min { $0.heardAt < $1.heardAt }
    if let oldest { remove(oldest.id) } else { hasLost = false }
    return oldest != nil
  }
}
#endif
