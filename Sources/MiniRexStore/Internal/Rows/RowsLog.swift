/// The IDs of the most recently changed rows, each with the stamp of its change.
///
/// A ring buffer with at least `limit` entries. `base` is the stamp before the oldest entry. Rows
/// that one operation changed together have the same stamp.
@usableFromInline
struct RowsLog<ID: Hashable & Sendable>: Sendable {
  @usableFromInline var latest: RowsStamp
  @usableFromInline var base: RowsStamp
  @usableFromInline var entries: [RowsLogEntry<ID>] = []
  @usableFromInline var oldest = 0
  @usableFromInline var capacity = 0

  @inlinable
  init(_ stamp: RowsStamp) {
    latest = stamp
    base = stamp
  }

  /// The maximum number of changes that are reported individually, for a number of rows.
  @inlinable
  static func limit(_ count: Int) -> Int { max(64, count / 8) }

  @inlinable
  mutating func note(_ edit: RowEdit<ID>, among count: Int) {
    latest = .next()
    append(edit, among: count)
  }

  @inlinable
  mutating func note(_ edits: [RowEdit<ID>], among count: Int) {
    if edits.count > Self.limit(count) {
      self = RowsLog(.next())
    } else {
      latest = .next()
      for edit in edits { append(edit, among: count) }
    }
  }

  @inlinable
  mutating func append(_ edit: RowEdit<ID>, among count: Int) {
    if entries.count == capacity { makeRoom(Self.limit(count)) }
    let entry = RowsLogEntry(stamp: latest, edit: edit)
    if entries.count < capacity {
      entries.append(entry)
    } else {
      base = entries[oldest].stamp
      entries[oldest] = entry
      oldest = oldest + 1 == capacity ? 0 : oldest + 1
    }
  }

  /// Doubles the capacity, so that rearranging the ring is amortized O(1) per change.
  @inlinable
  mutating func makeRoom(_ limit: Int) {
    if capacity >= limit { return }
    capacity = max(limit, 2 * capacity)
    entries = Array(entries[oldest...] + entries[..<oldest])
    oldest = 0
  }

  /// The IDs changed since the stamp, without duplicates, or `nil` if they are unknown or too many.
  @inlinable
  func ids(since stamp: RowsStamp, among count: Int) -> [ID]? {
    if stamp == latest { return [] }
    guard let changes = changes(since: stamp), changes <= Self.limit(count) else { return nil }
    var known: Set<ID> = []
    return (1...changes).compactMap { age in
      let id = entry(age).edit.id
      return changes == 1 || known.insert(id).inserted ? id : nil
    }
  }

  /// The changes since the stamp, from the oldest to the newest, or `nil` if they are unknown or too
  /// many.
  @inlinable
  func edits(since stamp: RowsStamp, among count: Int) -> [RowEdit<ID>]? {
    if stamp == latest { return [] }
    guard let changes = changes(since: stamp), changes <= Self.limit(count) else { return nil }
    return (1...changes).reversed().map { entry($0).edit }
  }

  /// The only change since the stamp, if exactly one row was changed, and in its place.
  @inlinable
  func onlyEdit(since stamp: RowsStamp) -> RowEdit<ID>? {
    if entries.isEmpty { return nil }
    let last = entry(1)
    let before = entries.count == 1 ? base : entry(2).stamp
    return before == stamp && last.stamp > stamp && !last.edit.isStructural ? last.edit : nil
  }

  @inlinable
  func changes(since stamp: RowsStamp) -> Int? {
    var age = 1
    while age <= entries.count, entry(age).stamp > stamp { age += 1 }
    let isKnown = age > entries.count ? stamp == base : entry(age).stamp == stamp
    return isKnown ? age - 1 : nil
  }

  /// Returns an entry by its age.
  ///
  /// The newest entry has age 1.
  @inlinable
  func entry(_ age: Int) -> RowsLogEntry<ID> {
    let place = oldest - age
    return entries[place < 0 ? place + entries.count : place]
  }
}

/// One change of one row.
@usableFromInline
struct RowsLogEntry<ID: Hashable & Sendable>: Sendable {
  @usableFromInline let stamp: RowsStamp
  @usableFromInline let edit: RowEdit<ID>

  @inlinable
  init(stamp: RowsStamp, edit: RowEdit<ID>) {
    self.stamp = stamp
    self.edit = edit
  }
}
