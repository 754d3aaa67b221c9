struct Counts: Equatable, Sendable {
  /// What was read.
  var lines = 0
  var bytes = 0
  /// What the broadcaster delivered.
  var updates = 0
  var matches = 0
  var replacements = 0
  var cuts = 0
  var severities = Severity.allCases.map { _ in 0 }

  mutating func add(_ line: Line) {
    updates += 1
    replacements += line.bytes.replacementCount
    if line.isCut { cuts += 1 }
  }

  func with(_ look: Look) -> Counts {
    var counts = self
    counts.lines = look.lines
    counts.bytes = look.bytes
    return counts
  }

  var summary: String {
    var text = "lines: \(lines)\nbytes: \(bytes)\nmatches: \(matches)\nupdates: \(updates)\n"
    if replacements > 0 { text += "replaced: \(replacements)\n" }
    if cuts > 0 { text += "cut: \(cuts)\n" }
    return text
  }
}
