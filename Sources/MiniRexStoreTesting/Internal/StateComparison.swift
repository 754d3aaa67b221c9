/// The differences between two values, found by reflection.
///
/// The pending comparisons are in an array, so deep values need no deep stack. Each pair of objects is
/// compared once, so cycles end.
struct StateComparison {
  private enum Step {
    case compare(Any, Any, at: DifferencePath, in: Int?)
    /// Follows the members of two unequal values.
    case explain(Any, Any, at: DifferencePath, in: Int?, since: Int)
    case summarize(list: Int)
  }

  private struct ObjectPair: Hashable {
    let actual: ObjectIdentifier
    let expected: ObjectIdentifier
  }

  /// The number of values whose members are compared, before unequal values differ as a unit.
  private static let limit = 20_000

  private var differences: DifferenceList
  private var steps: [Step]
  private var visited: Set<ObjectPair> = []
  private var visits = 0
  /// The number of found differences, forgiven NaNs, and repeated pairs of objects.
  private var explanations = 0
  private var hasNaN = false

  /// - Parameter name: The name of the two values where a path would be empty.
  init(of actual: Any, expected: Any, name: String) {
    differences = DifferenceList(of: name)
    steps = [.compare(actual, expected, at: .root, in: nil)]
    while let step = steps.popLast() {
      switch step {
      case .compare(let actual, let expected, let path, let row):
        if differences.isHidden(row) { continue }
        visits += 1
        if visits <= Self.limit {
          compare(actual, expected, at: path, in: row)
        } else if areEqual(actual, expected) == false {
          report(actual, expected, at: path, in: row)
        }
      case .explain(let actual, let expected, let path, let row, let since):
        if explanations == since { report(actual, expected, at: path, in: row) }
      case .summarize(let list): differences.summarize(list)
      }
    }
    // A cycle explains nothing if no member of it differs.
    if lines.isEmpty && !hasNaN && areEqual(actual, expected) == false {
      report(actual, expected, at: .root, in: nil)
    }
  }

  /// One difference per line, or nothing if the values are equal.
  var lines: [String] { differences.all }

  private mutating func compare(
    _ actual: Any, _ expected: Any, at path: DifferencePath, in row: Int?
  ) {
    let (one, other) = (Reflection(actual), Reflection(expected))
    if type(of: one.value) != type(of: other.value) {
      return report(one.value, other.value, at: path, in: row)
    }
    if isNaN(one.value) && isNaN(other.value) {
      forgiveNaN()
      return
    }
    let isEqual = areEqual(one.value, other.value)
    if isEqual == true { return }
    if let object = one.object, let otherObject = other.object {
      if object == otherObject { return }
      let pair = ObjectPair(actual: object, expected: otherObject)
      if !visited.insert(pair).inserted {
        explanations += 1
        return
      }
    }
    if one.isLeaf(beside: other) {
      // Closures and the like have no equality. They count as equal if they print the same.
      let texts = (
        ValueText(one.value, limit: 2_000).text, ValueText(other.value, limit: 2_000).text
      )
      if isEqual == false || texts.0 != texts.1 {
        report(one.value, other.value, at: path, in: row)
      }
      return
    }
    if isEqual == false {
      steps.append(.explain(one.value, other.value, at: path, in: row, since: explanations))
    }
    switch one.style {
    case .collection: compareRows(one, other, at: path, in: row)
    case .set: compareSets(one, other, at: path, in: row)
    case .dictionary: compareDictionaries(one, other, at: path, in: row)
    default: compareMembers(one, other, at: path, in: row)
    }
  }

  private mutating func compareMembers(
    _ one: Reflection, _ other: Reflection, at path: DifferencePath, in row: Int?
  ) {
    if one.members.map(\.label) != other.members.map(\.label) {
      return report(one.value, other.value, at: path, in: row)
    }
    for (index, (member, expected)) in zip(one.members, other.members).enumerated().reversed() {
      // An optional adds no name to the path.
      let path =
        one.style == .optional
        ? path : differences.path(.member(member.label ?? "\(index)"), below: path)
      steps.append(.compare(member.value, expected.value, at: path, in: row))
    }
  }

  private mutating func compareRows(
    _ one: Reflection, _ other: Reflection, at path: DifferencePath, in row: Int?
  ) {
    let (actual, expected) = (one.members.map(\.value), other.members.map(\.value))
    let pairing = RowPairing(actual, expected)
    let list = differences.list(at: path, in: row)
    let preposition = { (word: String, index: Int) in pairing.hasIDs ? "\(word) \(index): " : "" }
    for index in pairing.removed {
      let below = differences.path(pairing.name(expected[index], index), below: path)
      let text = { preposition("from", index) + ValueText(expected[index]).text }
      add(.removed, text(), at: below, to: list)
    }
    for index in pairing.added {
      let below = differences.path(pairing.name(actual[index], index), below: path)
      let text = { preposition("at", index) + ValueText(actual[index]).text }
      add(.added, text(), at: below, to: list)
    }
    for (index, old) in pairing.moved {
      let below = differences.path(pairing.name(actual[index], index), below: path)
      add(.moved, "from \(old) to \(index)", at: below, to: list)
    }
    steps.append(.summarize(list: list))
    for (index, old) in pairing.pairs.reversed() {
      if areEqual(actual[index], expected[old]) == true { continue }
      let below = differences.path(pairing.name(actual[index], index), below: path)
      push(actual[index], expected[old], at: below, to: list)
    }
  }

  private mutating func compareSets(
    _ one: Reflection, _ other: Reflection, at path: DifferencePath, in row: Int?
  ) {
    let list = differences.list(at: path, in: row)
    let (actual, expected) = (one.members.map(\.value), other.members.map(\.value))
    let (found, known) = (Set(actual.map { key(of: $0) }), Set(expected.map { key(of: $0) }))
    if actual.contains(where: isNaN) && expected.contains(where: isNaN) { forgiveNaN() }
    steps.append(.summarize(list: list))
    var missing = Dictionary(grouping: expected.filter { !found.contains(key(of: $0)) }) {
      ValueText($0).text
    }
    for value in sorted(actual.filter({ !known.contains(key(of: $0)) })) {
      if let twin = missing[ValueText(value).text]?.popLast() {
        push(value, twin, at: path, to: list)
      } else {
        add(.added, ValueText(value).text, at: path, to: list)
      }
    }
    for value in sorted(Array(missing.values.joined())) {
      add(.removed, ValueText(value).text, at: path, to: list)
    }
  }

  private mutating func compareDictionaries(
    _ one: Reflection, _ other: Reflection, at path: DifferencePath, in row: Int?
  ) {
    let list = differences.list(at: path, in: row)
    let (found, known) = (one.entries, other.entries)
    if [found, known].allSatisfy({ $0.values.contains { isNaN($0.key) } }) { forgiveNaN() }
    steps.append(.summarize(list: list))
    let start = steps.count
    for entry in sorted(Array(found.merging(known) { actual, _ in actual }.values.map(\.key))) {
      let below = differences.path(.key(entry), below: path)
      switch (found[key(of: entry)]?.value, known[key(of: entry)]?.value) {
      case (let actual?, let expected?):
        if areEqual(actual, expected) != true { push(actual, expected, at: below, to: list) }
      case (let actual?, nil):
        add(.added, ValueText(actual).text, at: below, to: list)
      case (nil, let expected?):
        add(.removed, ValueText(expected).text, at: below, to: list)
      case (nil, nil): break
      }
    }
    steps[start...].reverse()
  }

  private mutating func add(
    _ change: RowChange, _ text: @autoclosure () -> String, at path: DifferencePath, to list: Int
  ) {
    explanations += 1
    differences.add(change, text(), at: path, to: list)
  }

  /// NaN and the values that contain it are unequal to themselves.
  private mutating func forgiveNaN() {
    explanations += 1
    hasNaN = true
  }

  private mutating func push(
    _ actual: Any, _ expected: Any, at path: DifferencePath, to list: Int
  ) {
    steps.append(.compare(actual, expected, at: path, in: differences.row(of: list)))
  }

  private mutating func report(
    _ actual: Any, _ expected: Any, at path: DifferencePath, in row: Int?
  ) {
    explanations += 1
    differences.add("\(ValuePair(actual, expected))", at: path, in: row)
  }
}
