/// The index of a filter: the positions of the source that are included.
@usableFromInline
final class FilterIndex {
  private var included = PositionTree<Bool, Int>()

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { included.includedCount }

  @usableFromInline
  func sourcePosition(_ position: Int) -> Int { included.position(rank: position) }

  /// - Parameters:
  ///   - count: The number of rows of the source.
  ///   - isIncluded: The predicate, by the position in the source. Called once for each changed row.
  @usableFromInline
  func apply(_ change: LiveChange, _ count: Int, _ isIncluded: (Int) -> Bool) -> LiveChange {
    if change.isReset {
      included = PositionTree((0..<count).lazy.map(isIncluded))
      return .reset
    }
    if change.isEmpty { return change }
    var result = LiveChange()
    // Old positions first, in the tree before the change.
    let ranks = change.removals.map { included[$0] ? included.rank($0) : nil }
    result.removals = ranks.compactMap(\.self)
    var (updates, insertions): ([Int], [LiveChange.Insertion]) = ([], [])
    var flips: [(at: Int, to: Bool)] = []
    for position in change.updates {
      let old = change.oldPosition(position)
      let (was, isNow) = (included[old], isIncluded(position))
      if was && isNow { updates.append(position) }
      if was == isNow { continue }
      flips.append((position, isNow))
      if was { result.removals.insertSorted(included.rank(old)) }
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
    result.updates = updates.map(included.rank)
    result.simplify()
    return result
  }

  /// Tests all rows again, after a change of the predicate only.
  func testAgain(_ isIncluded: (Int) -> Bool) -> LiveChange {
    let old = included
    included = PositionTree((0..<old.count).lazy.map(isIncluded))
    var (result, oldRank, rank) = (LiveChange(), 0, 0)
    for (was, isNow) in zip(old, included) {
      if was && !isNow { result.removals.append(oldRank) }
      if !was && isNow { result.insertions.append(LiveChange.Insertion(at: rank)) }
      if was { oldRank += 1 }
      if isNow { rank += 1 }
    }
    return result.count > LiveChange.limit(rank) ? .reset : result
  }
}
