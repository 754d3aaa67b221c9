/// Decides, under the lock of a family, which unused entries are kept.
///
/// It has no keys: an entry is a number, and a key is looked up by its hash value. No reference
/// is stored in the queue, so nothing of the user is released under the lock.
package struct FamilyIndex: Sendable {
  private struct Unused: Sendable {
    let id: Int
    /// The value of `Entry.use` when the entry became unused.
    ///
    /// If the entry was used later, the values differ, and this element is outdated.
    let use: Int
    let since: Duration
  }

  private struct Entry: Sendable {
    let hash: Int
    /// The number of references: objects of the user and calls in progress.
    var pins = 0
    var isUnused = false
    /// The number of uses since the entry was added.
    var use = 0
  }

  let keepingUnused: Duration
  let limit: Int
  private var entries: [Int: Entry] = [:]
  private var buckets: [Int: [Int]] = [:]
  /// The unused entries, and outdated elements, oldest first.
  private var queue = Queue<Unused>()
  package private(set) var unusedCount = 0

  package init(keepingUnused: Duration, limit: Int) {
    self.keepingUnused = keepingUnused
    self.limit = limit
  }

  package var count: Int { entries.count }

  /// The entries with a hash value.
  package func candidates(_ hash: Int) -> [Int] { buckets[hash] ?? [] }

  /// Adds an entry with one pin.
  package mutating func add(_ id: Int, _ hash: Int) {
    entries[id] = Entry(hash: hash, pins: 1)
    buckets[hash, default: []].append(id)
  }

  /// Keeps an entry in the table until `unpin`, and marks it as used.
  ///
  /// - Returns: `false` if the entry does not exist.
  package mutating func pin(_ id: Int) -> Bool {
    guard var entry = entries[id] else { return false }
    entry.pins += 1
    entry.use += 1
    if entry.isUnused { unusedCount -= 1 }
    entry.isUnused = false
    entries[id] = entry
    return true
  }

  package mutating func unpin(_ id: Int) {
    entries[id]?.pins -= 1
  }

  /// Marks an entry as unused, unless it has a pin.
  ///
  /// - Parameter isIdle: `false` if the resource has subscribers or loads.
  package mutating func check(_ id: Int, isIdle: Bool, at now: Duration) {
    guard isIdle, var entry = entries[id], entry.pins == 0, !entry.isUnused else { return }
    entry.isUnused = true
    entries[id] = entry
    unusedCount += 1
    if queue.count > 2 * unusedCount + 16 { removeOutdated() }
    queue.append(Unused(id: id, use: entry.use, since: now))
  }

  /// Removes the entries that are no longer kept.
  package mutating func evict(at now: Duration) -> [Int] {
    var evicted: [Int] = []
    while let first = queue.first {
      if isCurrent(first) {
        if unusedCount <= limit, now - first.since < keepingUnused { break }
        remove(first.id)
        evicted.append(first.id)
      }
      _ = queue.popFirst()
    }
    return evicted
  }

  /// The instant at which the next entry is no longer kept, or `nil`.
  ///
  /// Called after `evict`.
  package var nextEviction: Duration? { queue.first.map { $0.since + keepingUnused } }

  private func isCurrent(_ unused: Unused) -> Bool {
    guard let entry = entries[unused.id] else { return false }
    return entry.isUnused && entry.use == unused.use
  }

  private mutating func remove(_ id: Int) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    if entry.isUnused { unusedCount -= 1 }
    buckets[entry.hash]?.removeAll { $0 == id }
    if buckets[entry.hash]?.isEmpty == true { buckets[entry.hash] = nil }
  }

  /// O(n), after at least n elements were added.
  private mutating func removeOutdated() {
    var current = Queue<Unused>()
    for element in queue.elements where isCurrent(element) { current.append(element) }
    queue = current
  }
}
