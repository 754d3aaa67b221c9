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

@Suite(.timeLimit(.minutes(20)))
struct ReplicaTests {
  private func board(_ server: NATSServer) async -> NATSConnection {
    let nats = NATSConnection(server.url)
    #expect(await nats.stream("ledger").create().hasSucceeded())
    #expect(await nats.bucket("snapshots").create().hasSucceeded())
    return nats
  }

  @Test func `send returns the sequence once the action is committed here`() async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    let other = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)

    #expect(await replica.send(.entered(1, by: "a")).result == .success(1))
    #expect(replica.store.state.lines == ["a 1.0"])
    #expect(await other.send(.entered(2, by: "b")).result == .success(2))
    #expect(other.store.state.lines == ["a 1.0", "b 2.0"])
    await until { replica.sequence.current() == 2 }
    #expect(replica.store.state == other.store.state)
    await nats.close()
    _ = await replica.failure.firstResult { $0 }
    #expect(replica.failure.current() == .closed)
    #expect(await replica.send(.entered(3, by: "a")).result == .failure(.closed))
  }

  @Test func `effects run in the sending process, and their actions reach every replica`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    let other = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)

    for number in 1...20 { replica.send(.entered(Double(number), by: "a")) }
    // Two effects have sent their notes, and no further action follows.
    await until { replica.sequence.current() == 22 && other.sequence.current() == 22 }
    #expect(await other.send(.entered(1, by: "b")).result == .success(23))

    let noted = other.store.state.lines.filter { $0.hasPrefix("noted") }
    #expect(noted == ["noted a 10.0", "noted a 20.0"])
    await until { replica.sequence.current() == 23 }
    #expect(replica.store.state == other.store.state)
    await nats.close()
  }

  @Test(arguments: [1, 2])
  func `replicas of several processes agree byte for byte after the server was suspended`(
    _ guestCount: Int
  ) async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    var options = NATSOptions()
    options.pingInterval = .milliseconds(500)
    let cut = NATSConnection(server.url, options: options)
    let names = (0..<guestCount).map { "guest\($0)" }
    let guests = try names.map { try Guest("replica", server.url, $0, "100") }
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: cut, reducer: reduce)
    for name in names {
      await until(
        await nats.request(Int.self, "", on: "\(name).begin", timeout: .seconds(5)).result
          == .success(100))
    }
    await until { replica.sequence.current().map { $0 > 20 } ?? false }
    server.send(SIGSTOP)
    await cut.isEventually(.reconnecting)
    let sent = (1...100).map { Recorder(replica.send(.entered(Double($0), by: "test"))) }
    server.send(SIGCONT)

    let last = UInt64((guestCount + 1) * 110)
    await until { replica.sequence.current() == last }
    let text = replica.store.state.text
    for name in names {
      let state = nats.request(String.self, last, on: "\(name).state", timeout: .seconds(100))
      #expect(await state.result == .success(text))
    }
    for recorder in sent { #expect(await recorder.next().count == 1) }
    let own = replica.store.state.lines.filter { $0.hasPrefix("test") }
    #expect(own == (1...100).map { "test \(Double($0))" })
    withExtendedLifetime(guests) {}
    await cut.close()
    await nats.close()
  }

  @Test func `a late replica loads the snapshot and reads the rest`() async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    func start() async throws -> LedgerReplica {
      try await LedgerReplica(
        Ledger(), of: "ledger", over: nats, snapshotsIn: "snapshots", snapshotEvery: 100,
        reducer: reduce)
    }
    let first = try await start()
    for number in 1...250 { first.send(.entered(Double(number) + 0.5, by: "a")) }
    await until { first.sequence.current() == 250 }
    let entry = nats.bucket("snapshots").publishedEntry(of: Data.self, for: "ledger")
    let snapshot = await entry.firstResult { entry in
      let text = entry.value.map { String(decoding: $0, as: UTF8.self) }
      return text.flatMap { $0.contains(#""sequence":200"#) ? $0 : nil }
    }
    #expect(snapshot != nil && first.snapshotFailure.current() == .some(nil))
    // The stream can no longer be read from the beginning.
    #expect(await nats.stream("ledger").purge(before: 201).hasSucceeded())

    let late = try await start()
    let commits = Recorder(late.store.events.compactMap { $0.commit?.number })

    await until { late.sequence.current() == 250 }
    #expect(late.store.state.text == first.store.state.text)
    #expect(commits.updates.count <= 50)
    let without = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    #expect(await without.failure.firstResult { $0 } == .missing(1..<201))
    await nats.close()
  }

  @Test func `an undecodable action stops the replica and is named in the failure`() async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    for number in 1...2 {
      #expect(await replica.send(.entered(Double(number), by: "a")).result?.isSuccess == true)
    }
    let waiting = Recorder(replica.failure)
    let stream = nats.stream("ledger")
    let newer = stream.append("nonsense", headers: ["MiniRex-Replica": "newer 1"])
    #expect(await newer.result == .success(3))
    let later = stream.append(
      LedgerAction.noted("later"), headers: ["MiniRex-Replica": "newer 2"])
    #expect(await later.result == .success(4))

    _ = await waiting.next(2)
    guard case .undecodable(3, "LedgerAction", _)?? = replica.failure.current() else {
      Issue.record("\(replica.failure.current() as Any)")
      return
    }
    #expect(replica.store.state.lines == ["a 1.0", "a 2.0"])
    #expect(await replica.send(.noted("more")).result == .failure(.closed))
    await nats.close()
  }

  @Test func `the policy setAside skips an undecodable action and reports it`() async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    let diagnostics = Recorder(nats.diagnostics)
    let replica = try await LedgerReplica(
      Ledger(), of: "ledger", over: nats, undecodable: .setAside, reducer: reduce)
    let newer = nats.stream("ledger").append(
      "nonsense", headers: ["MiniRex-Replica": "newer 1"])
    #expect(await newer.result == .success(1))

    #expect(await replica.send(.entered(1, by: "a")).result == .success(2))
    #expect(replica.store.state.lines == ["a 1.0"])
    guard case .undecodable("ledger", let reason)? = await diagnostics.next().first else {
      Issue.record("\(diagnostics.updates)")
      return
    }
    #expect(reason.contains("message 1 ") && reason.contains("LedgerAction"))
    await nats.close()
  }

  @Test func `pending actions have a limit and keep their order after a reconnect`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    let replica = try await LedgerReplica(
      Ledger(), of: "ledger", over: nats, pendingLimit: 10, reducer: reduce)
    await server.stop()
    await nats.isEventually(.reconnecting)

    let sent = (1...11).map { Recorder(replica.send(.entered(Double($0) + 0.5, by: "a"))) }
    #expect(sent[10].updates == [.failure(.sendLimitReached)])
    try await server.start()

    for (index, recorder) in sent.dropLast().enumerated() {
      #expect(await recorder.next() == [.success(UInt64(index + 1))])
    }
    #expect(replica.store.state.lines == (1...10).map { "a \(Double($0) + 0.5)" })
    await nats.close()
  }

  @Test func `an action sent to the store of a replica traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let server = try await NATSServer.keeping()
      let nats = NATSConnection(server.url)
      let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
      replica.store.send(.noted("here only"))
    }

    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Send them to the replica."))
  }

  @Test func `an undecodable snapshot fails the initializer`() async throws {
    let server = try await NATSServer.keeping()
    let nats = await board(server)
    #expect(await nats.bucket("snapshots").put("nonsense", for: "ledger").hasSucceeded())

    let error = await #expect(throws: ReplicaFailure.self) {
      _ = try await LedgerReplica(
        Ledger(), of: "ledger", over: nats, snapshotsIn: "snapshots", reducer: reduce)
    }

    guard case .snapshot("ledger", _)? = error else {
      Issue.record("\(error as Any)")
      return
    }
    await nats.close()
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
#endif
