/// The positions that one update of a list changes.
///
/// `removals` are positions before the change, in ascending order, and contain the old positions of
/// moved rows. `insertions` and `updates` are positions after the change, in ascending order.
@usableFromInline
struct LiveChange: Sendable, Equatable {
  /// A row that is inserted, or moved if it has an old position.
  @usableFromInline
  struct Insertion: Sendable, Equatable {
    @usableFromInline let at: Int
    @usableFromInline let from: Int?
    /// `true` if the row was moved, and has not changed.
    @usableFromInline let isSame: Bool

    @inlinable
    init(at: Int, from: Int? = nil, isSame: Bool = false) {
      self.at = at
      self.from = from
      self.isSame = isSame
    }
  }

  @usableFromInline var removals: [Int] = []
  @usableFromInline var insertions: [Insertion] = []
  @usableFromInline var updates: [Int] = []
  /// `true` if every row may have changed, and the positions are unknown.
  @usableFromInline var isReset = false

  @inlinable
  init() {}

  /// Creates the change of one row in its place.
  @inlinable
  init(update position: Int) { updates = [position] }

  @inlinable static var reset: LiveChange {
    var change = LiveChange()
    change.isReset = true
    return change
  }

  @inlinable var isEmpty: Bool {
    !isReset && removals.isEmpty && insertions.isEmpty && updates.isEmpty
  }

  /// The position, if one row has changed in its place.
  ///
  /// This is the most frequent change, for which each stage has a short path.
  @inlinable var onlyUpdate: Int? {
    updates.count == 1 && removals.isEmpty && insertions.isEmpty && !isReset ? updates[0] : nil
  }

  /// The number of removed, inserted, moved, and updated rows.
  @inlinable var count: Int {
    let moves = insertions.isEmpty ? 0 : insertions.count { $0.from != nil }
    return removals.count + insertions.count + updates.count - moves
  }

  /// The number of changes above which an update contains all rows.
  @inlinable static func limit(_ count: Int) -> Int { max(64, count / 8) }

  /// Returns the old position of a row that was neither inserted nor moved.
  @inlinable
  func oldPosition(_ position: Int) -> Int {
    if removals.isEmpty && insertions.isEmpty { return position }
    return removals.skipping(position - insertions.partition { $0.at >= position })
  }

  /// Removes the moves of rows that stay in their place.
  ///
  /// Of these rows, those that have changed are updates.
  @inlinable
  mutating func simplify() {
    if insertions.allSatisfy({ $0.from == nil }) { return }
    // A row stays if it has as many other rows in front as before.
    let stays = longestAscent(
      insertions.enumerated().map { offset, insertion in
        guard let from = insertion.from else { return nil }
        return from - removals.partition { $0 >= from } == insertion.at - offset ? from : nil
      })
    var kept: Set<Int> = []
    for (insertion, stays) in zip(insertions, stays) where stays {
      if let from = insertion.from { kept.insert(from) }
      if !insertion.isSame { updates.insertSorted(insertion.at) }
    }
    if kept.isEmpty { return }
    removals.removeAll { kept.contains($0) }
    insertions.removeAll { $0.from.map(kept.contains) ?? false }
  }
}

extension [Int] {
  /// Returns the position, before the removal of these ascending positions, of the element that has
  /// the position `position` afterward.
  @inlinable
  func skipping(_ position: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] - middle > position { high = middle } else { low = middle + 1 }
    }
    return position + low
  }

  /// Inserts a position into ascending positions.
  @inlinable
  mutating func insertSorted(_ position: Int) {
    insert(position, at: partition { $0 >= position })
  }
}
