import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy) struct PublisherLawTests {
  @Test func `every source keeps the delivery rules`() async throws {
    try await expectPublisherLaws(within: .seconds(100)) {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher, drivenBy: source)
    }
    try await expectPublisherLaws(within: .seconds(100)) {
      let property = PublishedProperty(0)
      return PublisherUnderTest(property.publisher, drivenBy: property)
    }
    try await expectPublisherLaws(within: .seconds(100)) {
      let source = TaskSource<Int, Never>()
      return PublisherUnderTest(source.publisher, drivenBy: source)
    }
    try await expectPublisherLaws(within: .seconds(100)) {
      let source = ProgressiveTaskSource<Int, Int, Never>()
      return PublisherUnderTest(source.publisher, drivenBy: source)
    }
  }
}
