extension Timeline {
  /// The first difference between expected and received updates, as a picture of the timeline.
  ///
  /// ```text
  /// The updates differ from step 4 on, counting from 0:
  ///
  /// broadcaster  1-2--3|
  /// expected     a-b--c|
  /// received     a-b-?c|
  ///                  ^
  /// ? is 42
  /// ```
  public struct Difference: Equatable, Sendable, CustomStringConvertible {
    /// The inputs, the expected updates, and the received updates, with a `^` under the first step that
    /// differs.
    public let description: String

    /// Returns `nil` if the updates are equal.
    init?(_ inputs: [TimelineInput], _ outcomes: [TimelineOutcome]) {
      guard let first = outcomes.compactMap(\.difference).min() else { return nil }
      var rows = inputs.map { TimelineRow($0.name, $0.steps) }
      for outcome in outcomes {
        if let period = outcome.period { rows.append(TimelineRow("during", period)) }
        rows.append(TimelineRow("expected", outcome.expected))
        rows.append(TimelineRow("received", outcome.received, outcome.difference, outcome.unnamed))
      }
      description =
        "The updates differ from step \(first) on, counting from 0:\n\n"
        + TimelineRow.picture(rows)
    }
  }
}
