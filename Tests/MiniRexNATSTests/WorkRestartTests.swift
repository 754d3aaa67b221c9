#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// The durable consumer of `work` disappears while the connection stays.
@Suite(.heavy)
struct WorkRestartTests {
  @Test func `N8 work continues after its consumer is removed`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(stream.work(of: Int.self, durable: "billing")) { $0.ack() }
    #expect(await stream.append(1).hasSucceeded())
    #expect(await recorder.next().map(\.payload) == [1])

    _ = await nats.request(
      String.self, "", on: "$JS.API.CONSUMER.DELETE.jobs.billing", timeout: .seconds(5)
    ).result
    #expect(await stream.append(2).hasSucceeded())

    #expect(await holds(recorder.updates.contains { $0.payload == 2 }))
    #expect(
      await holds(
        diagnostics.updates.contains(.workRestarted(stream: "jobs", durable: "billing"))))
    await nats.close()
  }

  @Test func `N8 work continues after its stream is created again`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(stream.work(of: Int.self, durable: "billing")) { $0.ack() }
    #expect(await stream.append(1).hasSucceeded())
    #expect(await recorder.next().map(\.payload) == [1])

    #expect(await stream.remove().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    #expect(await stream.append(2).hasSucceeded())

    #expect(await holds(recorder.updates.contains { $0.payload == 2 }))
    #expect(
      await holds(
        diagnostics.updates.contains(.workRestarted(stream: "jobs", durable: "billing"))))
    await nats.close()
  }
}
#endif
