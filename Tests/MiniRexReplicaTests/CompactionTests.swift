import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// A state that refuses to be encoded while its number is odd.
private struct Refusing: Codable, Sendable {
  var number = 0

  func encode(to encoder: any Encoder) throws {
    if !number.isMultiple(of: 2) { throw Taken() }
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

/// Snapshots, and the entries that they make removable.
@Suite(.light)
struct CompactionTests {
  @Test func `O11 compaction never strands a replica`() async throws {
    let log = MemoryLog(snapshotEvery: 10, keeping: 3)
    let (link, other) = (log.manualLink(), log.manualLink())
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
      // A slow writer skips the first snapshot for the second.
      if number == 10 { await until { log.snapshotCount == 1 } }
    }
    // The entries after the snapshot before the last one stay.
    await until { log.first == 10 }
    other.connect()
    await other.settle(late)
    await link.settle(replica)
    await other.settle(late)

    #expect(await pending.success()?.sequence == 26)
    #expect(late.store.words == ["first"] + (2...25).map { "\($0)" } + ["pending"])
    #expect(late.store.state == replica.store.state)
    #expect(causes.updates.contains("rebased: 19 decided, 1 pending"))
    // A new replica needs the snapshot as well.
    let new = try makeReplica(log.manualLink())
    await until { new.progress.current().map { $0.sequence >= 20 } ?? false }
    #expect(new.store.words == ["first"] + (2...20).map { "\($0)" })
    for replica in [replica, late, new] { await replica.close() }
  }

  @Test func `O11 an action that a snapshot contains fails as unresolved, and is not repeated`()
    async throws
  {
    let folder = try Folder()
    let log = MemoryLog(snapshotEvery: 10, keeping: 0)
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, late) = (
      try makeReplica(link), try makeReplica(other, keptIn: folder.url.path)
    )
    await other.settle(late)
    let sent = late.send(.said("decided"))
    await until { other.inFlightCount == 1 }
    other.acceptNext(losesAnswer: true)
    other.cut()
    for number in 2...20 {
      replica.send(.said("\(number)"))
      await link.settle(replica)
      if number == 10 { await until { log.snapshotCount == 1 } }
    }
    await until { log.first == 10 }
    other.connect()
    await other.settle(late)

    guard case .unresolved? = await sent.failure() else {
      Issue.record("The action has a decision.")
      return
    }
    #expect(late.store.words == ["decided"] + (2...20).map { "\($0)" })
    #expect(log.last == 20)
    await replica.close()
    await late.close()
  }

  @Test func `O11 only the sender of the entry writes the snapshot`() async throws {
    let log = MemoryLog(snapshotEvery: 2, keeping: 100)
    let (link, other) = (log.manualLink(), log.manualLink())
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

  @Test func `O11 a snapshot that cannot be encoded is reported, and the next is written`()
    async throws
  {
    let log = MemoryLog(snapshotEvery: 1, keeping: 100)
    let replica = try Replica<Refusing, Int>(Refusing(), of: log.link()) { state, number in
      state.number = number
      return .none
    }
    let troubles = Recorder(replica.troubles)

    replica.send(1)
    #expect(await troubles.next() == [.snapshot("Taken()")])
    #expect(log.snapshotCount == 0)
    replica.send(2)

    await until { log.snapshotCount == 1 }
    await replica.close()
  }

  @Test func `O11 a snapshot of entries that the log has lost is not used and replaced`()
    async throws
  {
    let log = MemoryLog(snapshotEvery: 2, keeping: 100)
    let link = log.manualLink()
    let replica = try makeReplica(link)
    replica.send(.said("kept"))
    await link.settle(replica)
    log.backUp()
    for number in 1...6 {
      replica.send(.said("lost \(number)"))
      await link.settle(replica)
      await until { log.snapshotCount == (number + 1) / 2 }
    }
    let troubles = Recorder(replica.troubles)

    link.cut()
    log.restore(keepingSnapshots: true)
    link.connect()
    await replica.isRead(through: 0)
    await link.settle(replica)
    #expect(replica.store.words == ["kept"])
    #expect(troubles.updates == [.rolledBack(to: 1)])
    replica.send(.said("new"))
    await link.settle(replica)
    await until { log.snapshotCount == 4 }

    // The new snapshot belongs to the log.
    log.purge(before: 2)
    let late = try makeReplica(log.manualLink())
    await until { late.progress.current()?.sequence == 2 }
    #expect(late.store.words == ["kept", "new"])
    await replica.close()
    await late.close()
  }

  @Test func `O11 a log that went back behind its newest snapshot has an earlier one`()
    async throws
  {
    let log = MemoryLog(snapshotEvery: 2, keeping: 0)
    let link = log.manualLink()
    let replica = try makeReplica(link)
    for number in 1...7 {
      replica.send(.said("\(number)"))
      await link.settle(replica)
      if number % 2 == 0 { await until { log.snapshotCount == number / 2 } }
      // The server keeps the snapshot after six actions, but not the last two of them.
      if number == 4 { log.backUp() }
    }
    #expect(log.first == 4)
    let troubles = Recorder(replica.troubles)

    link.cut()
    log.restore(keepingSnapshots: true)
    let late = try makeReplica(log.manualLink())
    link.connect()
    await replica.isRead(through: 4)
    await late.isRead(through: 4)

    #expect(troubles.updates == [.rolledBack(to: 4)])
    #expect(replica.confirmed.current()?.words == ["1", "2", "3", "4"])
    #expect(late.store.state == replica.store.state)
    // The log grows beyond the snapshot, which then belongs to other entries.
    for number in 1...3 {
      replica.send(.said("new \(number)"))
      await link.settle(replica)
    }
    let new = try makeReplica(log.manualLink())
    await until { new.progress.current().map { $0.sequence >= 4 } ?? false }
    #expect(new.store.words.prefix(4) == ["1", "2", "3", "4"])
    #expect(new.progress.current()?.trouble == nil)
    for replica in [replica, late, new] { await replica.close() }
  }

  @Test func `O11 entries that arrive while the snapshot is read are read again`() async throws {
    let log = MemoryLog(snapshotEvery: 100)
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    for word in ["one", "two"] {
      foreign.send(.said(word))
      await other.settle(foreign)
    }
    await link.settle(replica)
    link.cut()
    log.purge(before: 3)
    foreign.send(.said("three"))
    await other.settle(foreign)

    link.holdSnapshots(true)
    link.connect()
    link.deliverNext(.max)
    await until { link.heldCount == 1 }
    await replica.processed()
    link.holdSnapshots(false)
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == 3
    }

    #expect(replica.store.words == ["one", "two", "three"])
    await replica.close()
    await foreign.close()
  }
}
