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

/// An append whose answer is lost, on streams that forget message IDs sooner than the connection returns.
///
/// `MINIREX_SCALE=120` makes the duplicate window two minutes.
@Suite(.timeLimit(.minutes(20)))
struct ReplicaOnceTests {
  private let window = Duration.seconds(1) * max(1, scale)

  private func makeStream(over nats: NATSConnection) async {
    var options = NATSStreamOptions()
    options.duplicateWindow = window
    #expect(await nats.stream("ledger").createForReplicas(options).hasSucceeded())
    #expect(await nats.stream("ledger").duplicateWindow().result == .success(window))
  }

  /// The last sequence of the stream.
  private func last(over nats: NATSConnection) async -> UInt64? {
    let info = await nats.request(
      String.self, "", on: "$JS.API.STREAM.INFO.ledger", timeout: .seconds(9)
    ).result
    guard case .success(let text)? = info else { return nil }
    return text.values(of: "last_seq").first.flatMap { UInt64($0) }
  }

  @Test
  func `an action whose answer was lost beyond the duplicate window is appended once`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (nats, far) = (NATSConnection(server.url), NATSConnection(proxy.url))
    await makeStream(over: nats)
    let near = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: far, reducer: reduce)
    #expect(await replica.send(.entered(1, by: "a")).result == .success(1))

    proxy.loseAnswers()
    let sent = Recorder(replica.send(.entered(2, by: "a")))
    await until(await last(over: nats) == 2)
    proxy.cut()
    await far.isEventually(.reconnecting)
    // The server forgets the ID.
    try await Task.sleep(for: window + .seconds(1))
    proxy.pass()
    proxy.mend()

    #expect(await sent.next() == [.success(2)])
    #expect(await replica.send(.entered(3, by: "a")).result == .success(3))
    await until { near.sequence.current() == 3 }
    #expect(near.store.state.lines == ["a 1.0", "a 2.0", "a 3.0"])
    #expect(await last(over: nats) == 3)
    await far.close()
    await nats.close()
  }

  @Test func `an action removed before it was read is appended again`() async throws {
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (nats, far) = (NATSConnection(server.url), NATSConnection(proxy.url))
    await makeStream(over: nats)
    let replica = try await LedgerReplica(Ledger(), of: "ledger", over: far, reducer: reduce)
    #expect(await replica.send(.entered(1, by: "a")).result == .success(1))

    proxy.loseAnswers()
    let sent = Recorder(replica.send(.entered(2, by: "a")))
    await until(await last(over: nats) == 2)
    proxy.cut()
    await far.isEventually(.reconnecting)
    let removed = nats.request(
      String.self, #"{"seq":2}"#, on: "$JS.API.STREAM.MSG.DELETE.ledger", timeout: .seconds(9))
    #expect(await removed.hasSucceeded())
    try await Task.sleep(for: window + .seconds(1))
    proxy.pass()
    proxy.mend()

    #expect(await sent.next() == [.success(3)])
    #expect(replica.store.state.lines == ["a 1.0", "a 2.0"])
    await far.close()
    await nats.close()
  }

  @Test
  func `a second copy of an action from a lost connection is ignored`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    await makeStream(over: nats)
    let bucket = nats.bucket("snapshots")
    #expect(await bucket.create().hasSucceeded())
    func start() async throws -> LedgerReplica {
      try await LedgerReplica(
        Ledger(), of: "ledger", over: nats, snapshotsIn: "snapshots", snapshotEvery: 3,
        reducer: reduce)
    }
    let replica = try await start()
    for number in 1...3 { replica.send(.entered(Double(number), by: "a")) }
    await until { replica.sequence.current() == 3 }
    let copies = await messages(of: nats.stream("ledger"), 3)
    let snapshot = bucket.publishedEntry(of: Data.self, for: "ledger")
    #expect(await snapshot.firstResult { $0.value } != nil)
    #expect(await nats.stream("ledger").purge(before: 4).hasSucceeded())
    let other = try await start()
    #expect(other.sequence.current() == 3)
    try await Task.sleep(for: window + .seconds(1))

    for copy in copies {
      let again = nats.stream("ledger").append(
        copy.payload, headers: copy.headers)
      #expect(await again.hasSucceeded())
    }
    #expect(await replica.send(.entered(4, by: "a")).result == .success(7))
    #expect(replica.store.state.lines == ["a 1.0", "a 2.0", "a 3.0", "a 4.0"])
    await until { other.sequence.current() == 7 }
    #expect(other.store.state == replica.store.state)
    await nats.close()
  }

  @Test func `the duplicate window is two minutes, or the maximum age if that is shorter`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    for (maxAge, window) in [(nil, 120), (.seconds(30), 30)] as [(Duration?, Int)] {
      var options = NATSStreamOptions()
      options.maxAge = maxAge
      let stream = nats.stream("window-\(window)")
      #expect(await stream.create(options).hasSucceeded())
      #expect(await stream.duplicateWindow().result == .success(.seconds(window)))
    }
    var options = NATSStreamOptions()
    (options.maxAge, options.duplicateWindow) = (.seconds(30), .seconds(31))
    guard case .failure(.invalidOptions)? = await nats.stream("longer").create(options).result
    else {
      Issue.record("A window longer than the maximum age was accepted.")
      return
    }
    await nats.close()
  }

  private func messages(
    of stream: NATSStream, _ count: Int
  ) async -> [NATSStreamMessage<Data>] {
    await Recorder(stream.broadcaster(of: Data.self, from: .beginning)).next(count)
  }
}
#endif
