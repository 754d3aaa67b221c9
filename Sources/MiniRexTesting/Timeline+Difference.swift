extension Timeline {
  /// What came instead of what was expected, as a picture of the whole timeline.
  ///
  /// ```text
  /// What came differs from step 4 on, counting from 0:
  ///
  /// broadcaster  1-2--3|
  /// expected     a-b--c|
  /// came         a-b-?c|
  ///                  ^
  /// ? is 42
  /// ```
  public struct Difference: Equatable, Sendable, CustomStringConvertible {
    /// The picture: inputs, expectation and what came under each other, and a `^` under the first
    /// step in which the two are not the same.
    public let description: String

    /// `nil` if there is none.
    init?(_ inputs: [TimelineInput], _ outcomes: [TimelineOutcome]) {
      guard let first = outcomes.compactMap(\.difference).min() else { return nil }
      var rows = inputs.map { Row($0.name, $0.steps) }
      for outcome in outcomes {
        if let period = outcome.period { rows.append(Row("during", period)) }
        rows.append(Row("expected", outcome.expected))
        rows.append(Row("came", outcome.came, outcome.difference, outcome.strangers))
      }
      let columns = rows.map(\.cells.count).max() ?? 0
      let widths = (0..<columns).map { index in
        rows.map { index < $0.cells.count ? $0.cells[index].count : 0 }.max() ?? 0
      }
      description =
        "What came differs from step \(first) on, counting from 0:\n\n"
        + rows.map { $0.picture(widths) }.joined(separator: "\n")
    }
  }
}

/// A line of the picture.
private struct Row {
  let name: String
  let cells: [String]
  let difference: Int?
  let strangers: [String]

  init(
    _ name: String, _ steps: [[Character]], _ difference: Int? = nil, _ strangers: [String] = []
  ) {
    self.name = name
    cells = steps.map { step in
      switch step.count {
      case 0: "-"
      case 1: String(step)
      default: "(\(String(step)))"
      }
    }
    self.difference = difference
    self.strangers = strangers
  }

  func picture(_ widths: [Int]) -> String {
    var picture = line(name, zip(cells, widths).map { pad($0, to: $1) })
    if let difference {
      picture += "\n" + line("", widths.prefix(difference).map { pad("", to: $0) } + ["^"])
    }
    for stranger in strangers { picture += "\n? is \(stranger)" }
    return picture
  }

  private func line(_ name: String, _ cells: [String]) -> String {
    pad(name, to: 13) + cells.joined()
  }

  private func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
