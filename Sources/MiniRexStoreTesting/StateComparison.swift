/// Says where two states differ, by reflection.
struct StateComparison {
  /// One line for each path, as `user.name: "a", expected "b"`.
  private(set) var lines: [String] = []

  init(of actual: Any, expected: Any) {
    compare(actual, expected, at: "")
    // Types may be unequal for reasons that reflection does not see.
    if lines.isEmpty { lines.append("\(actual), expected \(expected)") }
  }

  private mutating func compare(_ actual: Any, _ expected: Any, at path: String) {
    let one = Mirror(reflecting: actual)
    let other = Mirror(reflecting: expected)
    let isSameShape =
      one.children.count == other.children.count && one.subjectType == other.subjectType
      && one.displayStyle != .set && one.displayStyle != .dictionary
      && one.children.map(\.label) == other.children.map(\.label)
    if one.children.isEmpty || !isSameShape {
      let texts = (String(reflecting: actual), String(reflecting: expected))
      if texts.0 != texts.1 {
        lines.append("\(path.isEmpty ? "the state" : path): \(texts.0), expected \(texts.1)")
      }
      return
    }
    for (index, (one, other)) in zip(one.children, other.children).enumerated() {
      let name = one.label ?? "\(index)"
      compare(one.value, other.value, at: path.isEmpty ? name : "\(path).\(name)")
    }
  }
}
