internal import Foundation
internal import MiniRexStore

/// An event of a page.
struct PageNews: Sendable, Encodable {
  var graph: GraphPicture.Told?
  var stores: [StoreNews] = []

  var isEmpty: Bool { graph == nil && stores.isEmpty }

  func event(_ name: String) -> Data {
    Data("event: \(name)\ndata: ".utf8) + json(self) + Data("\n\n".utf8)
  }
}

/// A store as pages have it, with the commits that are new to them.
struct StoreNews: Sendable, Encodable {
  let id: Int
  let name: String
  /// `nil` after it has gone.
  let counts: WatchedStore.Counts?
  /// The number of the last commit that is told of.
  let number: Int
  /// The oldest commit that is kept; those before it go from the page.
  let first: Int
  private var entries: [CommitLog.Entry]

  private enum CodingKeys: CodingKey {
    case id, name, counts, number, first, commits
  }

  init(_ id: Int, _ store: WatchedStore) {
    let log = store.commits
    self.id = id
    name = store.name
    counts = store.counts
    number = log.number
    first = log.entries.first?.number ?? log.number
    entries = log.entries
  }

  /// What is different from what was told; `nil` if nothing is.
  func since(_ old: StoreNews?) -> StoreNews? {
    guard let old else { return self }
    if old.number == number && old.counts == counts && old.first == first { return nil }
    var news = self
    news.entries.removeAll { $0.number <= old.number }
    return news
  }

  /// What is needed to find what is new.
  var head: StoreNews {
    var head = self
    head.entries = []
    return head
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(counts, forKey: .counts)
    try container.encode(number, forKey: .number)
    try container.encode(first, forKey: .first)
    try container.encode(entries.map { CommitLine($0) }, forKey: .commits)
  }
}

/// A commit in a list.
struct CommitLine: Sendable, Encodable {
  let previous: Int
  let number: Int
  /// In seconds since 1970.
  let time: Double
  let cause: String
  let changeCount: Int
  let changes: [ChangeLine]
  let failure: String?

  init(_ entry: CommitLog.Entry, causeUpTo count: Int = 200) {
    previous = entry.previous
    number = entry.number
    time = (entry.date.timeIntervalSince1970 * 1_000).rounded() / 1_000
    cause = shortened(entry.cause, to: count)
    changeCount = entry.changeCount
    changes = (entry.changes ?? [:]).sorted { $0.key < $1.key }.prefix(4)
      .map { ChangeLine($0, $1, to: 80) }
    failure = entry.failure
  }
}

/// What became of a path, as text.
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

/// A commit on its own: all that it has changed, and the state after it.
struct CommitTold: Sendable, Encodable {
  private struct Value: Encodable {
    let path: String
    let value: String
  }

  private let commit: CommitLine
  private let changes: [ChangeLine]
  /// Whether the changes were too much to keep.
  private let areChangesLost: Bool
  private let state: [Value]
  private let stateCount: Int

  /// `nil` if it is not kept.
  init?(_ number: Int, in log: CommitLog, _ limit: Int) {
    guard let entry = log.entries.first(where: { $0.number == number }),
      let values = log.state(after: number)
    else { return nil }
    commit = CommitLine(entry, causeUpTo: 2_000)
    changes = (entry.changes ?? [:]).sorted { $0.key < $1.key }.prefix(limit)
      .map { ChangeLine($0, $1, to: 2_000) }
    areChangesLost = entry.changes == nil
    state = values.sorted { $0.key < $1.key }.prefix(limit)
      .map { Value(path: shortened($0, to: 2_000), value: shortened("\($1)", to: 2_000)) }
    stateCount = values.count
  }
}
