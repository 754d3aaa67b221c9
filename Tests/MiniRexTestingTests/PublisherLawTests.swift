import Foundation
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

  // It may wait for the queue on which the callback runs.
  @Test func `flush does not run inside a callback`() async throws {
    let hasRunInside = Shared(false)
    try await expectPublisherLaws(within: .seconds(100)) {
      let source = BroadcastSource<Int>()
      let upstream = source.publisher
      let publisher = Broadcaster<Int> { receive in
        let input = upstream.subscribe { number in
          Inside.$callback.withValue(true) { receive(number) }
        }
        return Subscription {
          // Gives a callback that waits for the cancellation the time to flush.
          usleep(1_000)
          input.invalidate()
        }
      }
      return PublisherUnderTest(publisher, drivenBy: source) {
        if Inside.callback { hasRunInside.value = true }
      }
    }
    #expect(!hasRunInside.value)
  }
}

private enum Inside {
  @TaskLocal static var callback = false
}
