#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Lost answers, killed processes, and killed servers.
@Suite(.heavy)
struct ReplicaOnceTests {
  @Test func `O2 each action is decided once, in its sender's order`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    // A server 2.9 that is killed while it purges a stream may lose acknowledged messages. So nothing is purged here.
    let log = nats.log("ledger", snapshotEvery: 50)
    #expect(await log.create().hasSucceeded())
    let guests = try NoteGuests(["a", "b", "c"], server.url)

    for round in 0..<max(6, Int(24 * scale)) {
      try await Task.sleep(for: .milliseconds(.random(in: 50...400)))
      switch round % 4 {
      case 0, 2: try await guests.replaceOne()
      case 1:
        await server.stop()
        try await server.start()
      default:
        server.send(SIGSTOP)
        try await Task.sleep(for: .milliseconds(300))
        server.send(SIGCONT)
      }
    }
    try await guests.check(over: log)

    await nats.close()
  }

  @Test func `O2 an action whose answer was lost beyond the duplicate window is decided once`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (nats, far) = (NATSConnection(server.url), NATSConnection(proxy.url))
    var options = NATSStreamOptions()
    options.duplicateWindow = .milliseconds(100)
    #expect(await nats.log("ledger").create(options).hasSucceeded())
    let (near, replica) = (
      try LedgerReplica.make(nats.log("ledger")), try LedgerReplica.make(far.log("ledger"))
    )
    #expect(await replica.send(.noted("1")).success()?.sequence == 1)

    proxy.loseAnswers()
    let sent = replica.send(.noted("2"))
    await until(await nats.stream("ledger").logState(at: 0).success()?.last ?? 0 >= 2)
    proxy.cut()
    await far.isEventually(.reconnecting)
    replica.send(.noted("3"))
    try await Task.sleep(for: .milliseconds(200))
    proxy.pass()
    proxy.mend()

    #expect(await sent.success()?.sequence == 2)
    await until { replica.progress.current()?.pending == 0 }
    await until { near.store.state.lines.count == 3 }
    #expect(near.store.state.lines == (1...3).map { "noted \($0)" })
    #expect(replica.store.state == near.store.state)
    // The server must not swallow the second copy of an entry whose first copy was ignored.
    let entries = nats.stream("ledger").broadcaster(of: Data.self, from: .beginning)
    let headers = await Recorder(entries).next(2).map(\.headers)
    #expect(headers.allSatisfy { $0["Nats-Msg-Id"] == nil })
    for replica in [near, replica] { await replica.close() }
    await far.close()
    await nats.close()
  }

  @Test func `O15 caughtUp returns when the log's entries are read`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger")
    #expect(await log.create().hasSucceeded())
    let writer = try LedgerReplica.make(log)
    for number in 1...3 { writer.send(.entered(Double(number) + 0.5, by: "a")) }
    try await writer.flush()

    let replica = try LedgerReplica.make(log)
    try await replica.caughtUp()

    #expect(replica.store.state == writer.store.state)
    for replica in [writer, replica] { await replica.close() }
    await nats.close()
  }
}
#endif
