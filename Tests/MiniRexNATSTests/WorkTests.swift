#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct WorkTests {
  @Test func `N8 work is delivered until it is acknowledged, with a delivery count`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    for number in 1...3 { #expect(await stream.append(number).hasSucceeded()) }
    let work = stream.work(of: Int.self, durable: "billing", ackWait: .seconds(5))
    let recorder = Recorder(work)

    let first = await recorder.next(3)
    #expect(first.map(\.payload) == [1, 2, 3])
    #expect(first.map(\.count) == [1, 1, 1])
    first[0].ack()
    first[1].retry()
    let second = try #require(await recorder.next().first)
    #expect(second.payload == 2 && second.count == 2)
    second.reject()
    let third = try #require(await recorder.next().first)
    #expect(third.payload == 3 && third.count == 2)
    third.ack()

    #expect(await stream.append(4).hasSucceeded())
    let fourth = try #require(await recorder.next().first)
    #expect(fourth.payload == 4)
    fourth.retry(after: .milliseconds(50))
    #expect(await recorder.next().first?.count == 2)
    await nats.close()
  }

  @Test func `N8 subscribers with the same durable name share the work`() async throws {
    let server = try await NATSServer.keeping()
    let connections = (0..<3).map { _ in NATSConnection(server.url) }
    let stream = connections[0].stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let done = BroadcastSource<Int>()
    let recorder = Recorder(done.publisher)
    let tokens = connections.map { nats in
      nats.stream("jobs").work(of: Int.self, durable: "billing").subscribe {
        done.broadcast($0.payload)
        $0.ack()
      }
    }
    let appended = (1...300).map { Recorder(stream.append($0)) }

    #expect(await recorder.next(300).sorted() == Array(1...300))
    #expect(appended.count == 300)
    withExtendedLifetime(tokens) {}
    for nats in connections { await nats.close() }
  }

  @Test func `N8 the work of a killed process is delivered to another`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    #expect(await stream.append("job").hasSucceeded())
    let taken = Recorder(nats.broadcaster(of: String.self, on: "taken"))
    try await nats.areSubscribed()
    let guest = try Guest("work", server.url, "jobs", "taken")
    #expect(await taken.next().first?.payload == "job")

    guest.kill()
    let recorder = Recorder(
      stream.work(of: String.self, durable: "billing", ackWait: .milliseconds(500)))

    let again = try #require(await recorder.next().first)
    #expect(again.payload == "job" && again.count >= 2)
    again.ack()
    await nats.close()
  }

  @Test func `N9 undecodable work is reported and rejected`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(
      stream.work(of: Int.self, durable: "billing", ackWait: .seconds(600)))
    #expect(await stream.append("no number").hasSucceeded())
    #expect(await stream.append(7).hasSucceeded())

    #expect(await recorder.next().first?.payload == 7)
    recorder.updates.first?.ack()
    // The server has recorded both acknowledgments: no message of the stream is unacknowledged.
    await until(
      await nats.consumers(of: stream).components(separatedBy: #""ack_floor":"#).dropFirst()
        .contains { $0.values(of: "stream_seq").first == "2" })
    let reasons = diagnostics.updates.filter { trouble in
      if case .undecodable("jobs", _) = trouble { true } else { false }
    }
    #expect(reasons.count == 1)
    await nats.close()
  }
}
#endif
