package import MiniRexTesting

/// What is found of a publisher that breaks a law, once it is what was expected.
///
/// A machine that is held up lets what is late look as if it was missing, so there is more time with each
/// attempt, and the last report counts.
package func lawReport(
  on make: @Sendable () -> PublisherUnderTest, until isExpected: (PublisherLawReport) -> Bool
) async -> PublisherLawReport? {
  var report: PublisherLawReport?
  // Some faults show only if two threads meet.
  for limit in Array(repeating: Duration.seconds(1), count: 20) + [.seconds(10), .seconds(60)] {
    do {
      try await expectPublisherLaws(within: limit, of: make)
    } catch {
      report = error as? PublisherLawReport
      if let report, isExpected(report) { return report }
    }
  }
  return report
}
