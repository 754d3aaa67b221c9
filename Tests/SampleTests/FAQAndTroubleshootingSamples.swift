import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The answers of FAQAndTroubleshooting.md.
@Suite(.light) struct FAQAndTroubleshootingSamples {
  @Test func `a discarded subscription receives only the current value`() {
    let lines = LineWriter()
    let temperature = PublishedProperty(20)

    _ = temperature.publisher.subscribe { lines.write("\($0) °C") }

    temperature.value = 21
    #expect(lines.recorder.updates == ["20 °C"])
    #expect(temperature.subscriberCount == 0)
  }

  @Test func `delivered returns after every subscriber has the update`() async {
    let orders = BroadcastSource<String>()
    let recorder = Recorder(orders.publisher)

    orders.broadcast("tea")
    await orders.delivered()

    #expect(recorder.updates == ["tea"])
    #expect(orders.pendingUpdates == 0)
  }

  @Test func `modify publishes an equal value`() {
    let temperature = PublishedProperty(20)
    let recorder = Recorder(temperature.publisher)

    temperature.value = 20
    temperature.modify { $0 = 20 }

    #expect(recorder.updates == [20, 20])
  }

  @Test func `a computed value depends only on the values that it reads`() {
    let width = PublishedProperty(2)
    let height = PublishedProperty(3)
    let area = PublishedValue.computed { read in read(width) * read(height) }
    let unread = PublishedValue.computed { read in read(width) * height.value }
    let recorders = [Recorder(area), Recorder(unread)]

    height.value = 4

    #expect(recorders.map(\.updates) == [[6, 8], [6]])
  }

  @Test @MainActor func `subscribeOnMain runs synchronously for a send on the main actor`() {
    let temperature = PublishedProperty(20)
    var received: [Int] = []
    let subscription = temperature.publisher.subscribeOnMain { received.append($0) }

    temperature.value = 21

    #expect(received == [20, 21])
    withExtendedLifetime(subscription) {}
  }

  @Test func `an async function that calls invalidateAndWait waits for canceled work`() async {
    func stop(_ subscription: Subscription) async {
      await subscription.invalidateAndWait()
    }

    let cleanup = LineWriter()
    let task = PublishedTask {
      try? await Task.sleep(for: .seconds(600))
      cleanup.write("closed")
    }
    await stop(task.subscribe { _ in })

    #expect(cleanup.recorder.updates == ["closed"])
  }
}
