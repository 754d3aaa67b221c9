/// The number of an entry in its table.
@usableFromInline typealias EntryID = Int32

/// The entries of a dependency index, which refer to each other by their numbers.
///
/// A later entry may have the number of a removed entry. Invariants, which `DependencyIndex` keeps:
/// - One thread at a time uses the table.
/// - A number is used only between `append` and `remove`.
/// - An access to an entry ends before the next call of `append` or `remove`, which may move the
///   entries. User code that runs during an access therefore changes no entry.
@safe final class EntryTable {
  @exclusivity(unchecked)
  private var elements = UnsafeMutablePointer<IndexEntry>.allocate(capacity: 4)
  private var capacity = 4
  /// The number of initialized elements, including removed entries.
  private var count = 0
  private var unused: [EntryID] = []

  deinit {
    unsafe elements.deinitialize(count: count)
    unsafe elements.deallocate()
  }

  @inline(__always)
  subscript(id: EntryID) -> IndexEntry {
    unsafeAddress { unsafe UnsafePointer(elements + Int(id)) }
    unsafeMutableAddress { unsafe elements + Int(id) }
  }

  func append(_ entry: consuming IndexEntry) -> EntryID {
    if let id = unused.popLast() {
      self[id] = entry
      return id
    }
    if count == capacity { grow() }
    unsafe (elements + count).initialize(to: entry)
    count += 1
    return EntryID(count - 1)
  }

  /// Returns the contents, which the caller releases.
  func remove(_ id: EntryID) -> IndexEntry {
    var removed = IndexEntry.removed
    swap(&removed, &self[id])
    unused.append(id)
    return removed
  }

  private func grow() {
    let larger = UnsafeMutablePointer<IndexEntry>.allocate(capacity: 2 * capacity)
    unsafe larger.moveInitialize(from: elements, count: count)
    unsafe elements.deallocate()
    unsafe elements = larger
    capacity *= 2
  }
}
