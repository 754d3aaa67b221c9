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
      var rows = inputs.map { TimelineRow($0.name, $0.steps) }
      for outcome in outcomes {
        if let period = outcome.period { rows.append(TimelineRow("during", period)) }
        rows.append(TimelineRow("expected", outcome.expected))
        rows.append(TimelineRow("came", outcome.came, outcome.difference, outcome.strangers))
      }
      description =
        "What came differs from step \(first) on, counting from 0:\n\n"
        + TimelineRow.picture(rows)
    }
  }
}
