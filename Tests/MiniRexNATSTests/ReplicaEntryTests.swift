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

/// Effects, several processes, and messages of other programs.
@Suite(.heavy)
struct ReplicaEntryTests {
  @Test func `O8 an effect runs in the sending process, and its actions reach every replica`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    let other = try LedgerReplica.make(nats.log("ledger"))

    for number in 1...20 { replica.send(.entered(Double(number), by: "a")) }
    // Two effects send their notes.
    await until { other.confirmed.current()?.lines.count == 22 }
    #expect(await other.send(.entered(1, by: "b")).success() != nil)

    // The two effects race.
    let noted = other.store.state.lines.filter { $0.hasPrefix("noted") }
    #expect(noted.sorted() == ["noted a 10.0", "noted a 20.0"])
    try await replica.caughtUp()
    #expect(replica.store.state == other.store.state)
    await replica.close()
    await other.close()
    await nats.close()
  }

  @Test(arguments: [1, 2])
  func `O1 replicas of several processes agree byte for byte after the server was suspended`(
    _ guestCount: Int
  ) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    var options = NATSOptions()
    options.pingInterval = .milliseconds(500)
    let cut = NATSConnection(server.url, options: options)
    let names = (0..<guestCount).map { "guest\($0)" }
    let guests = try names.map { try Guest("replica", server.url, $0, "100") }
    let replica = try LedgerReplica.make(cut.log("ledger"))
    for name in names {
      await until(
        await nats.request(Int.self, "", on: "\(name).begin", timeout: .seconds(5)).result
          == .success(100))
    }
    await until { replica.confirmed.current().map { $0.lines.count > 20 } ?? false }
    server.send(SIGSTOP)
    await cut.isEventually(.reconnecting)
    let sent = (1...100).map { replica.send(.entered(Double($0), by: "test")) }
    server.send(SIGCONT)

    // Each process also sends ten notes.
    let count = (guestCount + 1) * 110
    await until { replica.confirmed.current()?.lines.count == count }
    let text = replica.store.state.text
    for name in names {
      let state = nats.request(String.self, count, on: "\(name).state", timeout: .seconds(100))
      #expect(await state.result == .success(text))
    }
    for task in sent { #expect(await task.success() != nil) }
    let own = replica.store.state.lines.filter { $0.hasPrefix("test") }
    #expect(own == (1...100).map { "test \(Double($0))" })
    withExtendedLifetime(guests) {}
    await replica.close()
    await cut.close()
    await nats.close()
  }

  @Test func `O16 an undecodable entry stops the replica, a stranger does not`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger")
    #expect(await log.create().hasSucceeded())
    let replica = try LedgerReplica.make(log)
    let troubles = Recorder(replica.troubles)
    #expect(await replica.send(.entered(1, by: "a")).success()?.sequence == 1)
    let stream = nats.stream("ledger")

    try nats.publish("nonsense", on: "ledger")
    #expect(await stream.append(LedgerAction.noted("a")).result == .success(3))
    #expect(await replica.send(.entered(2, by: "a")).success()?.sequence == 4)
    #expect(replica.store.state.lines == ["a 1.0", "a 2.0"])
    #expect(troubles.updates == [.stranger(sequence: 2), .stranger(sequence: 3)])
    // A new replica skips them as well.
    let late = try LedgerReplica.make(nats.log("ledger"))
    try await late.caughtUp()
    #expect(late.store.state == replica.store.state)

    let newer = stream.append("nonsense", headers: ["MiniRex-Replica": "newer 1 0"])
    #expect(await newer.result == .success(5))
    let later = stream.append(
      LedgerAction.noted("later"), headers: ["MiniRex-Replica": "newer 2 0"])
    #expect(await later.result == .success(6))
    for replica in [replica, late] {
      await until { replica.progress.current()?.phase == .stopped }
      guard case .undecodable(5, _)? = replica.progress.current()?.trouble else {
        Issue.record("\(String(describing: replica.progress.current()))")
        continue
      }
      #expect(replica.store.state.lines == ["a 1.0", "a 2.0"])
    }
    await nats.close()
  }

  @Test(arguments: [1, 200])
  func `O16 messages removed from the middle of the stream stop no new replica`(
    _ count: Int
  ) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.entered(1, by: "a")).success()?.sequence == 1)
    for number in 1...count {
      try nats.publish("nonsense", on: "ledger")
      let sent = replica.send(.entered(Double(number) + 0.5, by: "a"))
      #expect(await sent.success()?.sequence == UInt64(2 * number + 1))
      let removed = nats.request(
        String.self, #"{"seq":\#(2 * number),"no_erase":true}"#,
        on: "$JS.API.STREAM.MSG.DELETE.ledger", timeout: .seconds(9))
      #expect(await removed.hasSucceeded())
    }

    let late = try LedgerReplica.make(nats.log("ledger"))
    let troubles = Recorder(late.troubles)
    try await late.caughtUp()

    #expect(late.store.state == replica.store.state)
    await until { troubles.updates.count == count }
    #expect(troubles.updates.last == .removed(UInt64(2 * count)..<UInt64(2 * count + 1)))
    #expect(await late.send(.entered(3, by: "b")).success() != nil)
    await replica.close()
    await late.close()
    await nats.close()
  }
}
#endif
