internal import Foundation
internal import MiniRexStore

/// The content of an event.
struct PageEvents: Sendable, Encodable {
  var graph: GraphPicture.Contents?
  var stores: [StoreUpdate] = []

  var isEmpty: Bool { graph == nil && stores.isEmpty }

  func event(_ name: String) -> Data {
    Data("event: \(name)\ndata: ".utf8) + json(self) + Data("\n\n".utf8)
  }
}

/// A store in an event, with the commits that the page does not have.
struct StoreUpdate: Sendable, Encodable {
  let id: Int
  let name: String
  /// The counts, or `nil` if the store is deallocated.
  let counts: WatchedStore.Counts?
  /// The unfinished effects, oldest first, up to a limit.
  let effects: [WatchedStore.EffectLine]
  /// The effects in the timeline that the page does not have.
  private var spans: [EffectLog.Span]
  private let spanVersion: Int
  /// The performed jobs, or `nil` if the page already has them.
  private var jobs: [JobsLine]?
  /// The scopes in use, or `nil` if the page already has them.
  private var scopes: [ScopeLine]?
  /// The number of commits in earlier runs, which the page adds to each number.
  let earlierCommits: Int
  /// The number of the newest commit.
  let number: Int
  /// The number of the oldest commit in the log.
  ///
  /// The page removes earlier commits.
  let first: Int
  private var entries: [CommitLog.Entry]

  private enum CodingKeys: CodingKey {
    case id, name, counts, effects, spans, jobs, scopes, earlierCommits, number, first, commits
  }

  init(_ id: Int, _ store: WatchedStore) {
    let log = store.commits
    self.id = id
    name = store.name
    counts = store.counts
    effects = store.effects
    let effectLog = store.effectLog
    (spans, spanVersion) = (effectLog.spans, effectLog.version)
    jobs = store.jobs
    scopes = store.scopes
    earlierCommits = store.earlierCommits
    number = log.number
    first = log.entries.first?.number ?? log.number
    entries = log.entries
  }

  /// Returns the changes since `old`, or `nil` if nothing changed.
  func since(_ old: StoreUpdate?) -> StoreUpdate? {
    guard let old else { return self }
    if old.number == number && old.counts == counts && old.first == first
      && old.effects == effects && old.spanVersion == spanVersion && old.scopes == scopes
      && old.jobs == jobs
    {
      return nil
    }
    var update = self
    update.spans.removeAll { $0.version <= old.spanVersion }
    if old.jobs == jobs { update.jobs = nil }
    if old.scopes == scopes { update.scopes = nil }
    update.entries.removeAll { $0.number <= old.number }
    return update
  }

  /// The store without its commits and timeline, for comparison with a later update.
  var head: StoreUpdate {
    var head = self
    head.entries = []
    head.spans = []
    return head
  }

  /// The store with its timeline, for a session file, which has the commits with all changes.
  var withoutCommits: StoreUpdate {
    var update = self
    update.entries = []
    return update
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(counts, forKey: .counts)
    try container.encode(effects, forKey: .effects)
    try container.encode(spans, forKey: .spans)
    try container.encodeIfPresent(jobs, forKey: .jobs)
    try container.encodeIfPresent(scopes, forKey: .scopes)
    try container.encode(earlierCommits, forKey: .earlierCommits)
    try container.encode(number, forKey: .number)
    try container.encode(first, forKey: .first)
    try container.encode(entries.map { CommitLine($0) }, forKey: .commits)
  }
}

/// A commit in a list.
struct CommitLine: Sendable, Encodable {
  let previous: Int
  let number: Int
  /// The time in seconds since 1970.
  let time: Double
  let cause: String
  let changeCount: Int
  /// The first changes.
  let changes: [ChangeLine]
  /// The paths of further changes, up to a limit.
  let paths: [String]
  let failure: String?

  init(_ entry: CommitLog.Entry, causeUpTo count: Int = 200) {
    previous = entry.previous
    number = entry.number
    time = entry.date.roundedTime
    cause = shortened(entry.cause, to: count)
    changeCount = entry.changeCount
    let all = (entry.changes ?? [:]).sorted { $0.key < $1.key }
    changes = all.prefix(4).map { ChangeLine($0, $1, to: 80) }
    paths = all.dropFirst(4).prefix(40).map { shortened($0.key, to: 80) }
    failure = entry.failure
  }
}

/// A change of a path, as text.
struct ChangeLine: Sendable, Encodable {
  let path: String
  let old: String?
  let new: String?

  init(_ path: String, _ change: FlatChange, to count: Int) {
    self.path = shortened(path, to: count)
    old = change.valueBefore.map { shortened("\($0)", to: count) }
    new = change.value.map { shortened("\($0)", to: count) }
  }
}

/// A commit with all its changes and the resulting state.
struct CommitDetail: Sendable, Encodable {
  struct Value: Sendable, Encodable {
    let path: String
    let value: String
  }

  private let commit: CommitLine
  private let changes: [ChangeLine]
  /// A Boolean value that indicates whether the changes exceeded the size limit.
  private let areChangesLost: Bool
  private let state: [Value]
  private let stateCount: Int

  /// Returns `nil` if the log does not contain the commit.
  init?(_ number: Int, in log: CommitLog, _ limit: Int) {
    guard let entry = log.entries.first(where: { $0.number == number }),
      let values = log.state(after: number)
    else { return nil }
    commit = CommitLine(entry, causeUpTo: 2_000)
    changes = (entry.changes ?? [:]).sorted { $0.key < $1.key }.prefix(limit)
      .map { ChangeLine($0, $1, to: 2_000) }
    areChangesLost = entry.changes == nil
    state = Self.values(values, limit)
    stateCount = values.count
  }

  static func values(_ values: [String: FlatValue], _ limit: Int) -> [Value] {
    values.sorted { $0.key < $1.key }.prefix(limit)
      .map { Value(path: shortened($0, to: 2_000), value: shortened("\($1)", to: 2_000)) }
  }
}
