extension LiveChange {
  /// Returns the removals, insertions, and moves that turn one list of IDs into another, without
  /// updates.
  ///
  /// The number of moves is minimal. O(n log n).
  @inlinable
  init<ID: Hashable>(from old: [ID], to new: [ID]) {
    self.init()
    var start = 0
    while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
    var (oldEnd, newEnd) = (old.count, new.count)
    while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
      oldEnd -= 1
      newEnd -= 1
    }
    if oldEnd == start {
      insertions = (start..<newEnd).map { Insertion(at: $0) }
      return
    }
    if newEnd == start {
      removals = Array(start..<oldEnd)
      return
    }
    var places: [ID: Int] = [:]
    for place in start..<oldEnd where places[old[place]] == nil { places[old[place]] = place }
    let origins = new[start..<newEnd].map { places.removeValue(forKey: $0) }
    let stays = longestAscent(origins)
    var isKept = [Bool](repeating: false, count: oldEnd - start)
    for (offset, origin) in origins.enumerated() {
      if let origin, stays[offset] {
        isKept[origin - start] = true
      } else {
        insertions.append(Insertion(at: start + offset, from: origin))
      }
    }
    removals = (start..<oldEnd).filter { !isKept[$0 - start] }
  }

  /// Adds the rows that stay and that differ.
  @inlinable
  mutating func addUpdates(among count: Int, _ isChange: (_ old: Int, _ new: Int) -> Bool) {
    var (next, removed) = (0, 0)
    var old = 0
    for position in 0..<count {
      if next < insertions.count, insertions[next].at == position {
        next += 1
        continue
      }
      while removed < removals.count, removals[removed] == old {
        removed += 1
        old += 1
      }
      if isChange(old, position) { updates.append(position) }
      old += 1
    }
  }
}

/// Marks a longest strictly ascending subsequence.
@usableFromInline
func longestAscent(_ numbers: [Int?]) -> [Bool] {
  // `tails[k]` is the offset of the smallest last number of an ascent of k + 1 numbers.
  var tails: [Int] = []
  var previous = [Int](repeating: -1, count: numbers.count)
  for (offset, number) in numbers.enumerated() {
    guard let number else { continue }
    let length = tails.partition { (numbers[$0] ?? 0) >= number }
    if length > 0 { previous[offset] = tails[length - 1] }
    if length == tails.count { tails.append(offset) } else { tails[length] = offset }
  }
  var marks = [Bool](repeating: false, count: numbers.count)
  var offset = tails.last ?? -1
  while offset >= 0 {
    marks[offset] = true
    offset = previous[offset]
  }
  return marks
}
