public import MiniRex

/// The results of a map, by position.
///
/// Without checks of exclusivity, like `FilterIndex`.
@usableFromInline
final class MapIndex<Row: Identifiable & Sendable> {
  @usableFromInline @safe @exclusivity(unchecked) var tree = RowTree<Row>()
  @usableFromInline let changeTest = ChangeTest<Row>()

  @inlinable
  init() {}

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameters:
  ///   - count: The number of rows of the source.
  ///   - transform: The result, by the position in the source. Called once for each changed row.
  @inlinable
  func apply(_ change: LiveChange, _ count: Int, _ transform: (Int) -> Row) -> LiveChange {
    if change.isReset {
      tree = RowTree((0..<count).lazy.map(transform))
      return change
    }
    var change = change
    let news = change.updates.map {
      ($0, tree[change.oldPosition($0)], transform($0))
    }
    var inserted = move(&change, transform).makeIterator()
    change.updates = []
    tree.apply(change) { position in inserted.next() ?? transform(position) }
    for (position, old, new) in news where changeTest(old, new) {
      tree[position] = new
      change.updates.append(position)
    }
    return change
  }

  /// Returns the results of the inserted and moved rows, and marks the moves of equal results.
  @inlinable
  func move(_ change: inout LiveChange, _ transform: (Int) -> Row) -> [Row] {
    change.insertions.indices.map { index in
      let insertion = change.insertions[index]
      guard let from = insertion.from else { return transform(insertion.at) }
      let old = tree[from]
      if insertion.isSame { return old }
      let new = transform(insertion.at)
      change.insertions[index] = LiveChange.Insertion(
        at: insertion.at, from: from, isSame: !changeTest(old, new))
      return new
    }
  }
}
