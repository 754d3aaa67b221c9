#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Streams with limits.
@Suite(.timeLimit(.minutes(20)))
struct ReplicaLimitTests {
  @Test(arguments: ["maxMessages", "maxBytes", "maxAge"])
  func `O12 a stream that can drop entries is refused`(_ limit: String) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    switch limit {
    case "maxMessages": options.maxMessages = 50
    case "maxBytes": options.maxBytes = 1 << 20
    default: options.maxAge = .seconds(3_600)
    }
    #expect(await nats.stream("ledger").createForReplicas(options).hasSucceeded())

    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    let sent = Recorder(replica.send(.entered(1, by: "a")))

    guard case .unsuitable(let reason)? = await replica.failure.firstResult({ $0 }) else {
      Issue.record("\(replica.failure.current() as Any)")
      return
    }
    #expect(reason.contains(limit))
    #expect(await sent.next() == [.failure(.closed)])
    #expect(await nats.stream("ledger").append("first").result == .success(1))
    await nats.close()
  }

  @Test func `O12 a late replica of a stream that has dropped entries names the limit`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("ledger")
    var options = NATSStreamOptions()
    options.maxMessages = 5
    #expect(await stream.createForReplicas(options).hasSucceeded())
    for _ in 1...10 { #expect(await stream.append("old").hasSucceeded()) }

    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)

    guard case .unsuitable? = await replica.failure.firstResult({ $0 }) else {
      Issue.record("\(replica.failure.current() as Any)")
      return
    }
    await nats.close()
  }

  @Test func `O12 a full stream keeps actions pending and reports it`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("ledger")
    let diagnostics = Recorder(nats.diagnostics)
    var options = NATSStreamOptions()
    (options.maxMessages, options.discardPolicy) = (3, .new)
    #expect(await stream.createForReplicas(options).hasSucceeded())
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    for number in 1...3 {
      let sent = replica.send(.entered(Double(number) + 0.5, by: "a"))
      #expect(await sent.result == .success(UInt64(number)))
    }

    let pending = (4...5).map { Recorder(replica.send(.entered(Double($0) + 0.5, by: "a"))) }
    guard case .notSent("ledger", .jetStream)? = await diagnostics.next().first else {
      Issue.record("\(diagnostics.updates)")
      return
    }
    #expect(await stream.purge(before: 3).hasSucceeded())

    #expect(await pending[0].next() == [.success(4)])
    #expect(await pending[1].next() == [.success(5)])
    #expect(diagnostics.updates.count == 1)
    #expect(replica.failure.current() == .some(nil))
    await nats.close()
  }
}
#endif
