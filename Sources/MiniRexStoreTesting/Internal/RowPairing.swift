/// The rows of two lists that belong together.
///
/// Rows with an id belong together by id. Other rows belong together if they are equal, and unequal rows
/// between two such pairs by position. `added` and the first number of a tuple are indices in the actual
/// list. `removed` and the second number are indices in the expected list.
struct RowPairing {
  private(set) var pairs: [(actual: Int, expected: Int)] = []
  private(set) var added: [Int] = []
  private(set) var removed: [Int] = []
  private(set) var moved: [(to: Int, from: Int)] = []
  let hasIDs: Bool

  /// The number of rows without a hash that are compared by their texts.
  private static let textLimit = 5_000

  init(_ actual: [Any], _ expected: [Any]) {
    let ids = (actual.compactMap { id(of: $0) }, expected.compactMap { id(of: $0) })
    hasIDs = ids.0.count == actual.count && ids.1.count == expected.count
    let matches =
      hasIDs ? Self.match(ids.0, ids.1) : Self.matchByValue(actual, expected)
    let inOrder = Self.longestIncreasing(matches)
    var (lastActual, lastExpected) = (0, 0)
    let matched = Set(matches.compactMap { $0 })
    for (index, match) in matches.enumerated() where match != nil && !inOrder.contains(index) {
      moved.append((to: index, from: match ?? index))
    }
    for index in matches.indices.filter({ inOrder.contains($0) }) + [actual.count] {
      let match = index < actual.count ? matches[index] ?? expected.count : expected.count
      let new = (lastActual..<index).filter { matches[$0] == nil }
      let old = (lastExpected..<match).filter { !matched.contains($0) }
      let changed = hasIDs ? 0 : min(new.count, old.count)
      pairs += zip(new, old).prefix(changed).map { (actual: $0, expected: $1) }
      added += new.dropFirst(changed)
      removed += old.dropFirst(changed)
      if index < actual.count { (lastActual, lastExpected) = (index + 1, match + 1) }
    }
    pairs += matches.enumerated().compactMap { index, match in
      match.map { (actual: index, expected: $0) }
    }
    pairs.sort { $0.actual < $1.actual }
  }

  /// The name of a row in a path.
  func name(_ row: Any, _ index: Int) -> DifferenceName {
    hasIDs ? id(of: row).map { .id($0.base) } ?? .index(index) : .index(index)
  }

  /// Returns for each actual row the index of the expected row with the same key.
  private static func match(_ actual: [AnyHashable], _ expected: [AnyHashable]) -> [Int?] {
    var places: [AnyHashable: [Int]] = [:]
    for (index, key) in expected.enumerated().reversed() { places[key, default: []].append(index) }
    return actual.map { places[$0]?.popLast() }
  }

  private static func matchByValue(_ actual: [Any], _ expected: [Any]) -> [Int?] {
    let start = zip(actual, expected).prefix { areEqual($0, $1) ?? false }.count
    let rest = (actual.dropFirst(start), expected.dropFirst(start))
    let end = zip(rest.0.reversed(), rest.1.reversed()).prefix { areEqual($0, $1) ?? false }.count
    let (middle, other) = (rest.0.dropLast(end), rest.1.dropLast(end))
    let isSlow = middle.count > textLimit && !(middle.first is AnyHashable)
    let matches =
      isSlow
      ? middle.map { _ in nil } : match(middle.map { key(of: $0) }, other.map { key(of: $0) })
    let shift = expected.count - actual.count
    return (0..<start).map { $0 } + matches.map { $0.map { $0 + start } }
      + (actual.count - end..<actual.count).map { $0 + shift }
  }

  /// Returns the positions of a longest increasing subsequence.
  private static func longestIncreasing(_ matches: [Int?]) -> Set<Int> {
    var tails: [Int] = []
    var previous = [Int?](repeating: nil, count: matches.count)
    for (index, match) in matches.enumerated() {
      guard let match else { continue }
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if (matches[tails[middle]] ?? 0) < match { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? tails[low - 1] : nil
      if low < tails.count { tails[low] = index } else { tails.append(index) }
    }
    var result: Set<Int> = []
    var next = tails.last
    while let index = next {
      result.insert(index)
      next = previous[index]
    }
    return result
  }
}
