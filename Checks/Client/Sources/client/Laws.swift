import MiniRex
import MiniRexTesting

/// Holds a publisher of each kind to the delivery rules, driven by closures and by a source.
func laws() async throws {
  try await expectPublisherLaws {
    let source = BroadcastSource<Int>()
    return PublisherUnderTest(source.publisher.dropFirst(0), drivenBy: source)
  }
  try await expectPublisherLaws(within: .seconds(20)) {
    let property = PublishedProperty(0)
    return PublisherUnderTest(property.publisher, drivenBy: property)
  }
  try await expectPublisherLaws {
    let property = PublishedProperty(0)
    return PublisherUnderTest(
      property.publisher.map { $0 }, conflates: false, send: { property.value = $0 },
      end: { property.end() }, flush: {}, subscriberCount: { property.subscriberCount })
  }
  try await expectPublisherLaws {
    let source = TaskSource<Int, Never>()
    return PublisherUnderTest(source.publisher, drivenBy: source)
  }
  try await expectPublisherLaws {
    let source = TaskSource<Int, Never>()
    return PublisherUnderTest(source.publisher.map { $0 }, finish: { source.finish(.success($0)) })
  }
  try await expectPublisherLaws {
    let source = ProgressiveTaskSource<Int, Int, Never>()
    return PublisherUnderTest(source.publisher, drivenBy: source)
  }
  try await expectPublisherLaws {
    let source = ProgressiveTaskSource<Int, Int, Never>()
    return PublisherUnderTest(
      source.publisher.mapProgress { $0 }, report: { source.report($0) },
      finish: { source.finish(.success($0)) })
  }
  do {
    try await expectPublisherLaws {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.map { -$0 }, drivenBy: source)
    }
    expect(false)
  } catch let report as PublisherLawReport {
    expect(report.rule == "R2" && report.script == "three subscribers, three updates.")
    expect(report.description.contains("; expected: 1"))
  }
}
