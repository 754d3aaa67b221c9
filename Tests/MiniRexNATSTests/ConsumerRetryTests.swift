#if NATS
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct ConsumerRetryTests {
  @Test func `N8 a reader asks again before the timeout of an append`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    // Servers that elect a leader receive requests, and answer none.
    let requests = Recorder(nats.broadcaster(of: String.self, on: "$JS.API.STREAM.INFO.board"))
    let appends = Recorder(nats.broadcaster(of: Int.self, on: "board"))
    try await nats.areSubscribed()

    let reading = nats.stream("board").log(after: 1).subscribe { _ in }
    let append = Recorder(nats.stream("board").append(1))
    _ = await append.next()

    #expect(appends.updates.count == 1)
    #expect(requests.updates.count > 2)
    reading.invalidate()
    await nats.close()
  }
}
#endif
