import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Snapshots, and the entries that they make removable.
@Suite(.timeLimit(.minutes(10)))
struct CompactionTests {
  @Test func `O11 compaction never strands a replica`() async throws {
    let log = MemoryLog(snapshotEvery: 10, keeping: 3)
    let (link, other) = (log.link(), log.link())
    let (replica, late) = (try makeReplica(link), try makeReplica(other))
    replica.send(.said("first"))
    await link.settle(replica)
    await other.settle(late)
    other.cut()
    let pending = late.send(.said("pending"))
    let causes = Recorder(late.store.events.compactMap(\.commit).map { "\($0.cause)" })

    for number in 2...25 {
      replica.send(.said("\(number)"))
      await link.settle(replica)
    }
    // The snapshot after 20 actions keeps three entries before it.
    await until { log.first == 17 }
    other.connect()
    await other.settle(late)
    await link.settle(replica)
    await other.settle(late)

    #expect(await pending.success()?.sequence == 26)
    #expect(late.store.words == ["first"] + (2...25).map { "\($0)" } + ["pending"])
    #expect(late.store.state == replica.store.state)
    #expect(causes.updates.contains("read again: 1 pending"))
    // A new replica needs the snapshot as well.
    let new = try makeReplica(log.link())
    await until { new.progress.current().map { $0.sequence >= 20 } ?? false }
    #expect(new.store.words == ["first"] + (2...20).map { "\($0)" })
    for replica in [replica, late, new] { await replica.close() }
  }

  @Test func `O11 an action that a snapshot contains fails as unresolved, and is not repeated`()
    async throws
  {
    let folder = try Folder()
    let log = MemoryLog(snapshotEvery: 10, keeping: 0)
    let (link, other) = (log.link(), log.link())
    let (replica, late) = (
      try makeReplica(link), try makeReplica(other, keptIn: folder.url.path)
    )
    await other.settle(late)
    let sent = late.send(.said("decided"))
    await until { other.inFlightCount == 1 }
    other.acceptNext(losesAnswer: true)
    other.cut()
    for number in 2...10 {
      replica.send(.said("\(number)"))
      await link.settle(replica)
    }
    await until { log.first == 10 }
    other.connect()
    await other.settle(late)

    guard case .unresolved? = await sent.failure() else {
      Issue.record("The action has a decision.")
      return
    }
    #expect(late.store.words == ["decided"] + (2...10).map { "\($0)" })
    #expect(log.last == 10)
    await replica.close()
    await late.close()
  }

  @Test func `O11 only the sender of the entry writes the snapshot`() async throws {
    let log = MemoryLog(snapshotEvery: 2, keeping: 100)
    let (link, other) = (log.link(), log.link())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    for word in ["one", "two"] {
      replica.send(.said(word))
      await link.settle(replica)
    }
    await until { log.snapshotCount == 1 }
    await other.settle(foreign)
    for word in ["three", "four"] {
      foreign.send(.said(word))
      await other.settle(foreign)
    }
    await until { log.snapshotCount == 2 }
    await link.settle(replica)
    await replica.close()
    await foreign.close()
    #expect(log.snapshotCount == 2)
  }

  @Test func `O11 a snapshot of entries that the log has lost is not used and replaced`()
    async throws
  {
    let log = MemoryLog(snapshotEvery: 2, keeping: 100)
    let link = log.link()
    let replica = try makeReplica(link)
    replica.send(.said("kept"))
    await link.settle(replica)
    log.backUp()
    for number in 1...6 {
      replica.send(.said("lost \(number)"))
      await link.settle(replica)
    }
    await until { log.snapshotCount == 3 }
    let troubles = Recorder(replica.troubles)

    link.cut()
    log.restore(keepingSnapshot: true)
    link.connect()
    await replica.isRead(through: 0)
    await link.settle(replica)
    #expect(replica.store.words == ["kept"])
    #expect(troubles.updates.first == .rolledBack(to: 1))
    #expect(troubles.updates.count == 2)
    replica.send(.said("new"))
    await link.settle(replica)
    await until { log.snapshotCount == 4 }

    // The new snapshot belongs to the log.
    log.purge(before: 2)
    let late = try makeReplica(log.link())
    await until { late.progress.current()?.sequence == 2 }
    #expect(late.store.words == ["kept", "new"])
    await replica.close()
    await late.close()
  }
}
