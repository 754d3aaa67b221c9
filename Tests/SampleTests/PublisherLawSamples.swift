import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy) struct PublisherLawSamples {
  @Test func `notifications keep the laws`() async throws {
    try await expectPublisherLaws {
      let center = NotificationCenter()
      let name = Notification.Name("number")
      return PublisherUnderTest(center.broadcaster(for: name) { $0.userInfo?["number"] as? Int }) {
        center.post(name: name, object: nil, userInfo: ["number": $0])
      }
    }
  }

  @Test func `what takes time keeps the laws`() async throws {
    try await expectPublisherLaws {
      let source = BroadcastSource<Int>()
      let clock = ManualClock()
      let calm = source.publisher.debounce(for: .seconds(1), clock: clock)
      return PublisherUnderTest(
        calm, drivenBy: source, conflates: true, flush: { clock.advance(by: .seconds(1)) })
    }
  }
}
