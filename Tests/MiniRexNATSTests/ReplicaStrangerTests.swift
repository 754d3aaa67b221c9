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

/// Messages in the stream of replicas that another program appended.
@Suite(.timeLimit(.minutes(20)))
struct ReplicaStrangerTests {
  @Test(arguments: ["ledger", "ledger.elsewhere"])
  func `a message of another program is set aside and reported`(_ subject: String)
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let stream = nats.stream("ledger")
    #expect(await stream.create().hasSucceeded())
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    #expect(await replica.send(.entered(1, by: "a")).result == .success(1))

    try nats.publish("nonsense", on: subject)
    #expect(await stream.append(LedgerAction.noted("a"), on: subject).result == .success(3))

    #expect(await replica.send(.entered(2, by: "a")).result == .success(4))
    #expect(replica.store.state.lines == ["a 1.0", "a 2.0"])
    #expect(replica.failure.current() == .some(nil))
    let reported = await diagnostics.next(2)
    for diagnostic in reported {
      guard case .undecodable(subject, _) = diagnostic else {
        Issue.record("\(diagnostic)")
        continue
      }
    }
    let late = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    await until { late.sequence.current() == 4 }
    #expect(late.store.state == replica.store.state)
    await nats.close()
  }

  @Test(arguments: [1, 200])
  func `messages removed from the middle of the stream stop no new replica`(
    _ count: Int
  ) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.stream("ledger").create().hasSucceeded())
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    #expect(await replica.send(.entered(1, by: "a")).result == .success(1))
    for number in 1...count {
      try nats.publish("nonsense", on: "ledger.elsewhere")
      let sent = replica.send(.entered(Double(number) + 0.5, by: "a"))
      #expect(await sent.result == .success(UInt64(2 * number + 1)))
      let removed = nats.request(
        String.self, #"{"seq":\#(2 * number),"no_erase":true}"#,
        on: "$JS.API.STREAM.MSG.DELETE.ledger", timeout: .seconds(9))
      #expect(await removed.hasSucceeded())
    }

    let late = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)

    let last = UInt64(2 * count + 1)
    await until { late.sequence.current() == last || late.failure.current() != .some(nil) }
    #expect(late.failure.current() == .some(nil))
    #expect(late.store.state == replica.store.state)
    #expect(await late.send(.entered(3, by: "b")).result == .success(last + 1))
    await nats.close()
  }
}
#endif
