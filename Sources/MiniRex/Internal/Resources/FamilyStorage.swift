internal import Synchronization

/// The resources of a family.
///
/// The lock covers no key: a thread compares candidates outside the lock, and then looks again.
/// Removed entries are released outside the lock.
final class FamilyStorage<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  typealias Entry = FamilyEntry<Key, Value, Failure>
  typealias Core = ResourceCore<Value, Failure>

  struct Table: Sendable {
    var index: FamilyIndex
    var entries: [Int: Entry] = [:]
    /// `true` while the alarm is set.
    var isAlarmSet = false
    var hasEnded = false
  }

  let timekeeper: Timekeeper
  let table: Lock<Table>
  let alarm: Alarm
  private let makeCore: @Sendable (Key, _ onIdle: @escaping @Sendable () -> Void) -> Core
  private let lastID = Atomic(0)

  init(
    keepingUnused: Duration, limit: Int, _ timekeeper: Timekeeper,
    makeCore: @escaping @Sendable (Key, _ onIdle: @escaping @Sendable () -> Void) -> Core
  ) {
    self.timekeeper = timekeeper
    self.makeCore = makeCore
    table = Lock(Table(index: FamilyIndex(keepingUnused: keepingUnused, limit: limit)))
    alarm = Alarm(timekeeper)
    alarm.onRing { [weak self] in self?.evict(at: $0) }
  }

  var count: Int { table.withLock { $0.entries.count } }

  var entries: [Entry] { table.withLock { Array($0.entries.values) } }

  /// Returns the resource of a key, which the caller retains.
  func resource(for key: Key) -> Resource<Value, Failure> {
    let entry = pinned(key) ?? makeEntry(key)
    if let resource = entry.user.withLock({ $0.resource }) {
      unpin(entry)
      return resource
    }
    let new = Resource(entry.core, publisher(of: entry)) { self.unpin(entry) }
    return entry.user.withLock { user in
      if let resource = user.resource { return resource }
      user.resource = new
      return new
    }
  }

  /// A publisher that outlasts its entry, and then continues with the next entry of the key.
  private func publisher(of entry: Entry) -> PublishedValue<Resource<Value, Failure>.State> {
    let (key, core) = (entry.key, entry.core)
    return Publisher(
      watchedBy: core.lineage,
      value: .untracked { self.withCore(of: key, or: core) { $0.current } }
    ) { receive in
      self.withCore(of: key, or: core) { $0.subscribe(receive) }
    }
  }

  /// Runs the body with the resource of a key, which stays in the table during the call.
  ///
  /// - Parameter other: The resource after the end of the family.
  private func withCore<Result>(of key: Key, or other: Core, _ body: (Core) -> Result) -> Result {
    guard let entry = pinned(key) else { return body(other) }
    defer { unpin(entry) }
    return body(entry.core)
  }

  /// Returns the entry of a key, which stays in the table until `unpin`, or `nil` after the end.
  private func pinned(_ key: Key) -> Entry? {
    let hash = key.hashValue
    var new: Entry?
    while true {
      let candidates = table.withLock { table in
        table.index.candidates(hash).compactMap { table.entries[$0] }
      }
      if let entry = candidates.first(where: { $0.key == key }) {
        if table.withLock({ $0.index.pin(entry.id) }) { return entry }
        continue
      }
      let entry = new ?? makeEntry(key)
      new = entry
      let known = candidates.map(\.id)
      let isAdded = table.withLock { table -> Bool? in
        if table.hasEnded { return nil }
        guard table.index.candidates(hash) == known else { return false }
        table.index.add(entry.id, hash)
        table.entries[entry.id] = entry
        return true
      }
      guard let isAdded else { return nil }
      if isAdded { return entry }
    }
  }

  private func makeEntry(_ key: Key) -> Entry {
    let id = lastID.add(1, ordering: .relaxed).newValue
    return Entry(id, key, makeCore(key) { [weak self] in self?.check(id) })
  }

  private func unpin(_ entry: Entry) {
    table.withLock { $0.index.unpin(entry.id) }
    check(entry.id)
  }
}
