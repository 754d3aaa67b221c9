package import MiniRexTesting

/// Returns the report about a broken publisher.
///
/// On a slow machine, a late update looks like a missing update. Later attempts therefore have a longer limit, and
/// the last report is returned if none is as expected.
package func lawReport(
  on make: @Sendable () -> PublisherUnderTest, until isExpected: (PublisherLawReport) -> Bool
) async -> PublisherLawReport? {
  var report: PublisherLawReport?
  // Some bugs need two threads at the same place.
  let limits = [Duration.milliseconds(100), .seconds(1)].flatMap { Array(repeating: $0, count: 20) }
  for limit in limits + [.seconds(10), .seconds(60)] {
    do {
      try await expectPublisherLaws(within: limit * measureCrowding(), of: make)
    } catch {
      report = error as? PublisherLawReport
      if let report, isExpected(report) { return report }
    }
  }
  return report
}
