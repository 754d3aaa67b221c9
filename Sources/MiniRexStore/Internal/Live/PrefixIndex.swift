/// The changes of the first rows of a source.
struct PrefixIndex {
  let limit: Int
  private(set) var count = 0

  init(limit: Int) { self.limit = limit }

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameter total: The number of rows of the source.
  mutating func apply(_ change: LiveChange, _ total: Int) -> LiveChange {
    let oldCount = count
    count = min(limit, total)
    if change.isReset || change.isEmpty { return change }
    var result = LiveChange()
    result.removals = Array(change.removals.prefix { $0 < oldCount })
    result.insertions = change.insertions.prefix { $0.at < count }.map { insertion in
      let from = insertion.from.flatMap { $0 < oldCount ? $0 : nil }
      return LiveChange.Insertion(
        at: insertion.at, from: from, isSame: from != nil && insertion.isSame)
    }
    // The rows that stay in the source keep their order. The first of them were and are in front.
    let stayed = oldCount - result.removals.count
    let stay = count - result.insertions.count
    for rank in stay..<max(stay, stayed) {
      result.removals.insertSorted(change.removals.skipping(rank))
    }
    let added = change.insertions.map(\.at)
    for rank in stayed..<max(stayed, stay) {
      result.insertions.append(LiveChange.Insertion(at: added.skipping(rank)))
    }
    result.insertions.sort { $0.at < $1.at }
    let entered = Set(result.insertions.map(\.at))
    result.updates = change.updates.filter { position in
      position < count && !entered.contains(position)
    }
    result.simplify()
    return result
  }
}
