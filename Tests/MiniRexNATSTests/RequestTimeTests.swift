#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import TestSupport
import Testing

@Suite(.heavy)
struct RequestTimeTests {
  @Test
  func
    `N6 unanswered requests fail at their own timeouts`()
    async throws
  {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let silent = nats.broadcaster(of: String.self, on: "silence").subscribe { _ in }
    try await nats.areSubscribed()

    let long = nats.request(String.self, "", on: "silence", timeout: .seconds(300)).subscribe { _ in
    }
    let first = await nats.request(String.self, "", on: "silence", timeout: .milliseconds(100))
      .result
    let second = await nats.request(String.self, "", on: "silence", timeout: .milliseconds(50))
      .result

    #expect(first == .failure(.timedOut))
    #expect(second == .failure(.timedOut))
    #expect(long.isSubscribed)
    withExtendedLifetime(silent) {}
    await nats.close()
  }
}
#endif
