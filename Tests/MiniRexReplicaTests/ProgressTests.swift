import Dispatch
import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The position of a replica, and the ways to wait for it.
@Suite(.light)
struct ProgressTests {
  @Test func `caughtUp throws when the replica is closed while the log is not connected`()
    async throws
  {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    replica.send(.said("one"))
    await link.settle(replica)
    foreign.send(.said("two"))
    await other.settle(foreign)
    let readers = link.readerCount
    let waiting = Task { try await replica.caughtUp() }
    await until { link.readerCount > readers }
    link.cut()
    await replica.close()
    await #expect(throws: ReplicaError.self) { try await waiting.finished() }
    await foreign.close()
  }

  @Test func `progress counts a cut and sends when the calls return`() async throws {
    for _ in 0..<scaled(20) {
      let link = MemoryLog().manualLink()
      let replica = try makeReplica(link)
      replica.send(.said("zero"))
      await link.settle(replica)
      await until { replica.progress.current()?.pending == 0 }
      let phases = Recorder(replica.progress.map { "\($0.phase) \($0.pending)" })

      link.cut()
      replica.send(.said("one"))
      replica.store.send(.said("two"))

      let progress = try #require(replica.progress.current())
      #expect(progress.pending == 2 && progress.oldestPending != nil)
      // The delivery of an earlier event may still be in progress on another thread.
      await until { replica.progress.current()?.phase == .offline }
      await until { phases.updates.last == "offline 2" }
      await replica.close()
    }
  }

  @Test func `progress reports the phase, the distance, and the oldest pending action`()
    async throws
  {
    let log = MemoryLog(snapshotEvery: 2)
    let (link, other) = (log.manualLink(isCut: true), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    for word in ["one", "two", "three"] {
      foreign.send(.said(word))
      await other.settle(foreign)
    }
    await until { log.snapshotCount == 1 }
    let before = Date()
    replica.send(.said("own"))
    replica.send(.said("next"))
    await until { replica.progress.current()?.pending == 2 }
    let offline = try #require(replica.progress.current())
    #expect(offline.phase == .offline && offline.behind == 0 && offline.sequence == 0)
    let oldest = try #require(offline.oldestPending)
    #expect(oldest >= before && oldest <= Date())

    link.connect()
    await until { replica.progress.current()?.phase == .catchingUp }
    #expect(replica.progress.current()?.behind == 3)
    link.deliverNext(1)
    await until { replica.progress.current()?.behind == 2 }
    link.deliverNext(2)
    await until { replica.progress.current()?.phase == .current }
    #expect(replica.progress.current()?.behind == 0)
    // An answer arrives before the entry.
    link.acceptAll()
    await until { replica.progress.current()?.behind == 1 }
    #expect(replica.progress.current()?.phase == .current)
    await link.settle(replica)

    await until { replica.progress.current()?.snapshotTime != nil }
    let last = try #require(replica.progress.current())
    #expect(last.behind == 0 && last.pending == 0 && last.oldestPending == nil)
    #expect(last.sequence == 4)
    link.cut()
    await until { replica.progress.current()?.phase == .offline }
    await replica.close()
    #expect(replica.progress.current()?.phase == .stopped)
    await foreign.close()
  }

  @Test func `a replica whose last entries were deleted is current`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(isCut: true), log.manualLink())
    let foreign = try makeReplica(other)
    for word in ["one", "two", "three"] {
      foreign.send(.said(word))
      await other.settle(foreign)
    }
    log.delete(3)
    let replica = try makeReplica(link)
    link.connect()
    link.deliverNext(.max)
    await until { replica.progress.current()?.phase == .current }
    #expect(replica.store.words == ["one", "two"])
    await replica.close()
    await foreign.close()
  }

  @Test func `caughtUp waits for the entries that the log has at the call`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.link(), log.link())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    try await replica.caughtUp()
    link.isDeaf = true
    foreign.send(.said("one"))
    try await foreign.flush()
    let hasCaughtUp = Shared(false)
    let waiting = Task {
      try await replica.caughtUp()
      hasCaughtUp.value = true
      return replica.store.words
    }
    // It reads the end of the log by itself, so it does not return early.
    await replica.processed()
    #expect(!hasCaughtUp.value)
    link.isDeaf = false
    #expect(try await waiting.finished() == ["one"])

    // Offline it waits for the connection.
    link.cut()
    foreign.send(.said("two"))
    try await foreign.flush()
    let later = Task {
      try await replica.caughtUp()
      return replica.store.words
    }
    link.connect()
    #expect(try await later.finished() == ["one", "two"])
    await replica.close()
    await foreign.close()
  }

  @Test func `caughtUp waits until the replica has applied the entries`() async throws {
    let log = MemoryLog()
    let foreign = try makeReplica(log.link())
    let mayReduce = DispatchSemaphore(value: 0)
    let replica = try Replica<Board, BoardAction>(Board(), of: log.link()) { board, action in
      mayReduce.waitAtMost()
      return reduce(&board, action)
    }
    try await replica.caughtUp()
    foreign.send(.said("one"))
    try await foreign.flush()
    // The log has the entry long before the reducer returns.
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { mayReduce.signal() }
    try await replica.caughtUp()
    #expect(replica.confirmed.current()?.words == ["one"])
    await replica.close()
    await foreign.close()
  }

  @Test func `flush waits for the decisions about earlier actions`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    try await replica.flush()
    replica.send(.claimed("job", by: "here"))
    foreign.send(.claimed("job", by: "there"))
    await other.settle(foreign)
    let isFlushed = Shared(false)
    let flushing = Task {
      try await replica.flush()
      isFlushed.value = true
    }
    await replica.processed()
    link.acceptAll()
    await replica.processed()
    #expect(!isFlushed.value)
    link.deliverNext(.max)
    // A rejection is a decision.
    try await flushing.finished()
    #expect(replica.confirmed.current()?.owners == ["job": "there"])
    await replica.close()
    await foreign.close()
  }

  @Test func `waiting ends with the replica, and with the task that waits`() async throws {
    let log = MemoryLog()
    let link = log.manualLink(isCut: true)
    let replica = try makeReplica(link)
    replica.send(.said("pending"))
    let canceled = Task { try await replica.flush() }
    canceled.cancel()
    await #expect(throws: CancellationError.self) { try await canceled.finished() }
    let waits = [
      Task { try await replica.flush() }, Task { try await replica.caughtUp() },
    ]
    await replica.processed()
    await replica.close()
    for wait in waits { #expect(await closes(wait)) }
    #expect(await closes(Task { try await replica.flush() }))
    #expect(await closes(Task { try await replica.caughtUp() }))
    let late = replica.send(.said("late"))
    #expect(await late.failure().map { "\($0)" } == "\(ReplicaError.closed)")
  }

  private func closes(_ task: Task<Void, any Error>) async -> Bool {
    if case .failure(let error as ReplicaError) = await task.result, case .closed = error {
      return true
    }
    return false
  }

  /// Replicas verify by default in debug builds.
  @Test(.enabled(if: _isDebugAssertConfiguration()))
  func `the digests of replicas are equal at equal sequences`() async throws {
    let log = MemoryLog(snapshotEvery: 3)
    let replicas = try (0..<2).map { _ in try makeReplica(log.link()) }
    for number in 1...7 { replicas[number % 2].send(.said("\(number)")) }
    for replica in replicas {
      try await replica.flush()
      try await replica.caughtUp()
    }
    for replica in replicas { await until { replica.digest.current().flatMap { $0 } != nil } }
    await until { replicas[0].digest.current() == replicas[1].digest.current() }
    for replica in replicas { await replica.close() }
  }
}
