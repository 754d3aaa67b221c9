/// The index of a filter: the positions of the source that are included.
///
/// An index has no checks of exclusivity, because `SharedRun` uses it in one turn at a time, and the
/// client's closures have no access to it.
@usableFromInline
final class FilterIndex {
  @safe @exclusivity(unchecked) private var included = InclusionTree(count: 0) { _ in false }

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { included.includedCount }

  @usableFromInline
  func sourcePosition(_ position: Int) -> Int { included.position(rank: position) }

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameters:
  ///   - count: The number of rows of the source.
  ///   - isIncluded: The predicate, by the position in the source. Called once for each changed row.
  @usableFromInline
  func apply(_ change: consuming LiveChange, _ count: Int, _ isIncluded: (Int) -> Bool)
    -> LiveChange
  {
    if let position = change.onlyUpdate {
      return update(position, isIncluded(position), consume change)
    }
    if change.isReset {
      included = InclusionTree(count: count, isIncluded)
      return .reset
    }
    if change.isEmpty { return change }
    return apply(change, isIncluded)
  }

  /// Changes one row, and reuses the array of its position.
  private func update(
    _ position: Int, _ isNow: Bool, _ change: consuming LiveChange
  ) -> LiveChange {
    let (was, rank) = included.find(position)
    if was && isNow {
      change.updates[0] = rank
      return change
    }
    var result = LiveChange()
    if was == isNow { return result }
    included[position] = isNow
    if was { result.removals = [rank] }
    if isNow { result.insertions = [LiveChange.Insertion(at: rank)] }
    return result
  }

  private func apply(_ change: LiveChange, _ isIncluded: (Int) -> Bool) -> LiveChange {
    var result = LiveChange()
    // Old positions first, in the tree before the change.
    let ranks = change.removals.map { position in
      let (was, rank) = included.find(position)
      return was ? rank : nil
    }
    result.removals = ranks.compactMap(\.self)
    var (updates, insertions): ([Int], [LiveChange.Insertion]) = ([], [])
    var flips: [(at: Int, to: Bool)] = []
    for position in change.updates {
      let (was, rank) = included.find(change.oldPosition(position))
      let isNow = isIncluded(position)
      if was && isNow { updates.append(position) }
      if was == isNow { continue }
      flips.append((position, isNow))
      if was { result.removals.insertSorted(rank) }
      if isNow { insertions.append(LiveChange.Insertion(at: position)) }
    }
    for position in change.removals.reversed() { included.remove(at: position) }
    for insertion in change.insertions {
      let isNow = isIncluded(insertion.at)
      included.insert(isNow, at: insertion.at)
      if !isNow { continue }
      let rank = insertion.from.flatMap { from in
        ranks[change.removals.partition { $0 >= from }]
      }
      insertions.append(
        LiveChange.Insertion(at: insertion.at, from: rank, isSame: insertion.isSame))
    }
    for flip in flips { included[flip.at] = flip.to }
    if insertions.count > 1 { insertions.sort { $0.at < $1.at } }
    result.insertions = insertions.map {
      LiveChange.Insertion(at: included.rank($0.at), from: $0.from, isSame: $0.isSame)
    }
    result.updates = updates.map { included.rank($0) }
    result.simplify()
    return result
  }

  /// Tests all rows again, after a change of the predicate only.
  func testAgain(_ isIncluded: (Int) -> Bool) -> LiveChange {
    let old = included
    let new = InclusionTree(count: old.count, isIncluded)
    included = new
    var (result, oldRank, rank) = (LiveChange(), 0, 0)
    for (was, isNow) in zip(old.flags, new.flags) {
      if was && !isNow { result.removals.append(oldRank) }
      if !was && isNow { result.insertions.append(LiveChange.Insertion(at: rank)) }
      if was { oldRank += 1 }
      if isNow { rank += 1 }
    }
    return result.count > LiveChange.limit(rank) ? .reset : result
  }
}
