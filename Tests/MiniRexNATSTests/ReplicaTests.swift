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

/// Optimistic replicas over a stream of a real server.
@Suite(.heavy)
struct ReplicaTests {
  @Test func `O9 a stream that was restored is detected before anything is applied`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.entered(1, by: "kept")).success()?.sequence == 1)
    try await server.backUp()
    for number in 2...3 {
      let sent = replica.send(.entered(Double(number), by: "lost"))
      #expect(await sent.success()?.sequence == UInt64(number))
    }
    let troubles = Recorder(replica.troubles)
    let states = Recorder(replica.confirmed)

    await server.stop()
    await nats.isEventually(.reconnecting)
    let pending = replica.send(.entered(4, by: "pending"))
    try await server.restore()
    // Another process writes first, over the sequences that the replica has read.
    let other = NATSConnection(server.url)
    let foreign = try LedgerReplica.make(other.log("ledger"))
    for number in 2...5 { foreign.send(.entered(Double(number), by: "new")) }

    #expect(await pending.success() != nil)
    #expect(await troubles.next().count == 1)
    if case .rolledBack? = troubles.updates.first {} else { Issue.record("\(troubles.updates)") }
    await until {
      foreign.store.state.lines.count == 6 && replica.store.state == foreign.store.state
    }
    #expect(replica.store.state.lines.first == "kept 1.0")
    #expect(replica.store.state.lines.filter { $0.hasPrefix("new") }.count == 4)
    #expect(replica.store.state.lines.contains("pending 4.0"))
    let areMixed = states.updates.contains { state in
      state.lines.contains { $0.hasPrefix("lost") } && state.lines.contains { $0.hasPrefix("new") }
    }
    #expect(!areMixed)
    await replica.close()
    await foreign.close()
    await nats.close()
    await other.close()
  }

  @Test func `O9 a replica notices at its start that the stream was created again`() async throws {
    let server = try await NATSServer.keeping()
    let folder = try Folder()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger")
    #expect(await log.create().hasSucceeded())
    let first = try LedgerReplica.make(log, keptIn: folder.url.path)
    for number in 1...3 {
      #expect(await first.send(.entered(Double(number), by: "old")).success() != nil)
    }
    await first.close()
    #expect(await nats.stream("ledger").remove().hasSucceeded())
    #expect(await log.create().hasSucceeded())
    let foreign = try LedgerReplica.make(log)
    for number in 1...4 {
      #expect(await foreign.send(.entered(Double(number), by: "new")).success() != nil)
    }

    let replica = try LedgerReplica.make(log, keptIn: folder.url.path)
    #expect(replica.store.state.lines == (1...3).map { "old \(Double($0))" })
    #expect(await replica.troubles.firstResult { $0 } == .rolledBack(to: 4))
    await until { replica.store.state == foreign.store.state }

    // The position of the new stream is kept.
    await replica.close()
    let again = try LedgerReplica.make(log, keptIn: folder.url.path)
    #expect(again.store.state == foreign.store.state)
    #expect(await again.send(.entered(5, by: "new")).success()?.sequence == 5)
    await again.close()
    await foreign.close()
    await nats.close()
  }

  @Test func `O9 a stream that is created again during the connection is detected`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger")
    #expect(await log.create().hasSucceeded())
    let replica = try LedgerReplica.make(log)
    for number in 1...3 {
      #expect(await replica.send(.entered(Double(number), by: "old")).success() != nil)
    }
    let troubles = Recorder(replica.troubles)

    #expect(await nats.stream("ledger").remove().hasSucceeded())
    #expect(await log.create().hasSucceeded())

    // The reader notices the missing heartbeats.
    #expect(await troubles.next() == [.rolledBack(to: 0)])
    let sent = replica.send(.entered(4, by: "new"))
    #expect(await sent.success()?.sequence == 1)
    #expect(replica.confirmed.current()?.lines == ["new 4.0"])
    await replica.close()
    await nats.close()
  }

  @Test func `O11 compaction of a stream never strands a replica`() async throws {
    let server = try await NATSServer.keeping()
    let proxy = try Proxy(to: server.address)
    let (nats, far) = (NATSConnection(server.url), NATSConnection(proxy.url))
    let log = nats.log("ledger", snapshotEvery: 100, keeping: 5)
    #expect(await log.create().hasSucceeded())
    let replica = try LedgerReplica.make(log)
    let away = try LedgerReplica.make(far.log("ledger", snapshotEvery: 100, keeping: 5))
    #expect(await replica.send(.entered(0.5, by: "a")).success() != nil)
    await until { away.store.state.lines.count == 1 }
    proxy.cut()
    await far.isEventually(.reconnecting)
    let pending = away.send(.entered(0.5, by: "pending"))

    // The state does not fit into one chunk.
    let long = String(repeating: "a", count: 2_000)
    for number in 1...350 {
      #expect(await replica.send(.entered(Double(number) + 0.5, by: long)).success() != nil)
    }
    await until(await nats.stream("ledger").logState(at: 0).success()?.first == 200)
    let chunks = await nats.bucket("ledger-snapshots").keys().success() ?? []
    // The chunks of the first snapshot are removed.
    #expect(chunks.count == 1 + 4 + 5, "\(chunks)")
    let late = try LedgerReplica.make(log)
    await until { late.store.state.text == replica.store.state.text }
    proxy.mend()

    #expect(await pending.success()?.sequence == 352)
    await until { replica.store.state == away.store.state && late.store.state == away.store.state }
    #expect(away.store.state.lines.count == 352)
    for replica in [replica, away, late] { await replica.close() }
    await nats.close()
    await far.close()
  }

  @Test func `O11 two writers never store a snapshot without its chunks`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger", snapshotEvery: 3, keeping: 2)
    #expect(await log.create().hasSucceeded())
    let writers = try (0..<4).map { _ in try LedgerReplica.make(log) }
    let troubles = writers.map { Recorder($0.troubles) }
    let count = max(20, Int(100 * scale))
    for number in 1...count {
      for (index, writer) in writers.enumerated() {
        writer.send(.entered(Double(number) + 0.5, by: "\(index)"))
      }
      if number % 10 == 0 {
        let late = try LedgerReplica.make(log)
        _ = await late.send(.entered(0.5, by: "late")).success()
        await late.close()
      }
    }
    let total = count * 4 + count / 10
    await until { writers.allSatisfy { $0.store.state.lines.count == total } }
    await until { writers.allSatisfy { $0.progress.current()?.pending == 0 } }

    #expect(Set(writers.map(\.store.state.text)).count == 1)
    #expect(troubles.flatMap(\.updates) == [])
    let late = try LedgerReplica.make(log)
    await until { late.store.state == writers[0].store.state }
    for replica in writers + [late] { await replica.close() }
    await nats.close()
  }

  @Test func `O11 of concurrent snapshots the newest remains`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger")
    #expect(await log.create().hasSucceeded())
    var entries: [NATSLogMessage] = []
    for number in 1...30 {
      _ = await log.append(ReplicaMessage(header: "a \(number) 0", payload: Data("1".utf8)))
        .success()
      let state = await nats.stream("ledger").logState(at: UInt64(number)).success()
      entries.append(try #require(state?.message))
    }

    await withTaskGroup { group in
      for entry in entries.shuffled() {
        group.addTask {
          let data = Data("\(entry.sequence)".utf8)
          let snapshot = ReplicaLogSnapshot(sequence: entry.sequence, time: entry.time, data)
          _ = await log.addSnapshot(snapshot).result
        }
      }
    }
    let stored = await log.snapshot(through: .max).success().flatMap { $0 }
    #expect(stored == Data("30".utf8))
    let earlier = await log.snapshot(through: 29).success().flatMap { $0 }
    #expect(earlier != stored)
    await nats.close()
  }

  @Test func `O11 an overtaken writer stores nothing, and does not fail`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger", keeping: 0)
    #expect(await log.create().hasSucceeded())
    let count = max(200, scaled(600))
    for number in 1...count {
      _ = await log.append(ReplicaMessage(header: "a \(number) 0", payload: Data("1".utf8)))
        .success()
    }

    let failures = await withTaskGroup(of: [ReplicaLogError].self) { group in
      for first in 1...8 {
        group.addTask {
          var failures: [ReplicaLogError] = []
          for number in stride(from: first, through: count, by: 8) {
            guard
              let message = await answer({
                nats.stream("ledger").logState(at: UInt64(number))
              }).success?.message
            else { continue }
            let data = Data("\(number)".utf8)
            let snapshot = ReplicaLogSnapshot(sequence: message.sequence, time: message.time, data)
            if let error = await answer({ log.addSnapshot(snapshot) }).failure {
              failures.append(error)
            }
          }
          return failures
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }

    #expect(failures.map { "\($0)" } == [])
    let stored = await answer { log.snapshot(through: .max) }.success.flatMap { $0 }
    #expect(stored == Data("\(count)".utf8))
    await nats.close()
  }

  /// Repeats a request that a busy server does not answer in time.
  private func answer<Success, Failure>(
    _ request: () -> PublishedTask<Success, Failure>
  ) async -> (success: Success?, failure: Failure?) {
    while !Task.isCancelled {
      switch await request().result {
      case .success(let success)?: return (success, nil)
      case .failure(let error)? where "\(error)" == "\(NATSError.timedOut)": continue
      case .failure(let error)?: return (nil, error)
      case nil: return (nil, nil)
      }
    }
    return (nil, nil)
  }

  @Test func `O11 a damaged snapshot is reported, and read again once it is repaired`() async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger", snapshotEvery: 5, keeping: 0)
    #expect(await log.create().hasSucceeded())
    let replica = try LedgerReplica.make(log)
    for number in 1...12 {
      let sent = replica.send(.entered(Double(number) + 0.5, by: "a"))
      #expect(await sent.success() != nil)
    }
    let (bucket, stream) = (nats.bucket("ledger-snapshots"), nats.stream("ledger"))
    await until(await stream.logState(at: 0).success()?.first == 5)
    let entry = bucket.publishedEntry(of: Data.self, for: "head")
    let head = try #require(await entry.firstResult { $0.value })

    #expect(await bucket.put("nonsense", for: "head").hasSucceeded())
    let late = try LedgerReplica.make(log)
    let troubles = Recorder(late.troubles)
    guard case .snapshot? = await troubles.next().first else {
      Issue.record("\(troubles.updates)")
      return
    }
    #expect(late.store.state == Ledger())
    #expect(await bucket.put(head, for: "head").hasSucceeded())

    try await late.caughtUp()
    #expect(late.store.state == replica.store.state)
    for replica in [replica, late] { await replica.close() }
    await nats.close()
  }

  @Test func `a replica of a closed connection is offline, and its actions stay pending`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.noted("decided")).success() != nil)
    await nats.close()
    await until { replica.progress.current()?.phase == .offline }
    let pending = replica.send(.noted("pending"))
    #expect(replica.store.state.lines == ["noted decided", "noted pending"])
    await until { replica.progress.current()?.pending == 1 }
    await replica.close()
    guard case .failure(.closed)? = await pending.result else {
      Issue.record("The action has a decision.")
      return
    }
  }

  @Test func `O18 a diverging reducer of another process is found`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let log = nats.log("ledger", snapshotEvery: 10)
    #expect(await log.create().hasSucceeded())
    let replica = try LedgerReplica.make(log)
    let diverging = try LedgerReplica(Ledger(), of: log, verifies: true) { ledger, action in
      ledger.total += 1
      return reduce(&ledger, action)
    }
    for number in 1...10 {
      #expect(await replica.send(.entered(Double(number) + 0.5, by: "a")).success() != nil)
    }

    await until { diverging.progress.current()?.phase == .stopped }

    #expect(diverging.progress.current()?.trouble == .diverged(at: 10))
    #expect(replica.progress.current()?.phase == .current)
    await replica.close()
    await nats.close()
  }

  @Test func `O12 a stream that can drop entries, or has foreign subjects, stops the replica`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var limited = NATSStreamOptions()
    (limited.subjects, limited.maxMessages) = (["limited"], 50)
    #expect(await nats.stream("limited").create(limited).hasSucceeded())
    #expect(await nats.stream("foreign").create().hasSucceeded())

    for name in ["limited", "foreign"] {
      let replica = try LedgerReplica.make(nats.log(name))
      replica.send(.entered(1, by: "a"))
      await until { replica.progress.current()?.phase == .stopped }
      if case .unsuitable? = replica.progress.current()?.trouble {
      } else {
        Issue.record("\(String(describing: replica.progress.current()))")
      }
      let state = nats.stream(name).logState(at: 0)
      #expect(await state.map(\.last).result == .success(0))
    }
    await nats.close()
  }
}

extension Replica<Ledger, LedgerAction> {
  static func make(_ log: NATSLog, keptIn folder: String? = nil) throws -> LedgerReplica {
    try LedgerReplica(
      Ledger(), of: log, keptIn: folder, retryAfter: .milliseconds(500), reducer: reduce)
  }
}

extension Publisher where Kind == TaskKind {
  /// Returns the success, or `nil` if the task fails.
  func success<Success: Sendable, Failure: Error>() async -> Success?
  where Update == Result<Success, Failure> {
    if case .success(let value)? = await result { value } else { nil }
  }
}
#endif
