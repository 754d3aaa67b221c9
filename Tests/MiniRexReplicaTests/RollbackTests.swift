import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Logs that were truncated, restored, or replaced while a replica was away.
@Suite(.light)
struct RollbackTests {
  @Test func `O9 a stream that went back is detected before anything is applied`() async throws {
    let (log, link, other, replica, foreign) = try makePair()
    await link.say(["kept"], as: replica)
    log.backUp()
    await link.say(["lost 1", "lost 2"], as: replica)
    await other.settle(foreign)
    link.cut()
    other.cut()
    let troubles = Recorder(replica.troubles)
    let commits = Recorder(replica.store.events.compactMap { $0.commit?.state.words })
    let pending = replica.send(.said("pending"))

    log.restore()
    other.connect()
    await foreign.isRead(through: 0)
    await other.settle(foreign)
    await other.say(["new 1", "new 2", "new 3"], as: foreign)
    link.connect()
    await link.settle(replica)

    #expect(troubles.updates == [.rolledBack(to: 4)])
    let words = ["kept", "new 1", "new 2", "new 3", "pending"]
    #expect(replica.store.words == words && replica.confirmed.current()?.words == words)
    // No state has entries of both logs.
    let areMixed = commits.updates.contains { words in
      words.contains { $0.hasPrefix("lost") } && words.contains { $0.hasPrefix("new") }
    }
    #expect(!areMixed)
    #expect(await pending.success()?.sequence == 5)
    await other.settle(foreign)
    #expect(foreign.store.state == replica.store.state)
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 a truncated log is detected without a new entry`() async throws {
    let log = MemoryLog()
    let link = log.manualLink()
    let replica = try makeReplica(link)
    await link.say(["kept"], as: replica)
    log.backUp()
    await link.say(["lost"], as: replica)
    let troubles = Recorder(replica.troubles)

    link.cut()
    log.restore()
    link.connect()
    await replica.isRead(through: 0)
    await link.settle(replica)

    #expect(troubles.updates == [.rolledBack(to: 1)])
    #expect(replica.store.words == ["kept"])
    // Its next action has a number that the log has not seen.
    await link.say(["next"], as: replica)
    #expect(replica.confirmed.current()?.words == ["kept", "next"])
    await replica.close()
  }

  @Test func `O9 nothing is applied while the snapshot of a log that went back is read`()
    async throws
  {
    let (log, link, other, replica, foreign) = try makePair()
    await link.say(["kept"], as: replica)
    log.backUp()
    await link.say(["lost"], as: replica)
    await other.settle(foreign)
    other.cut()
    log.restore()
    other.connect()
    await foreign.isRead(through: 0)
    await other.settle(foreign)
    await other.say(["new 1", "new 2"], as: foreign)
    let states = Recorder(replica.confirmed)

    link.holdSnapshots(true)
    link.beginAgain()
    // The entry after the last entry that was read, of the other log.
    link.deliverNext(.max)
    await until { link.heldCount == 1 }
    await replica.processed()
    #expect(replica.confirmed.current()?.words == ["kept", "lost"])
    link.holdSnapshots(false)
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == 3
    }

    #expect(replica.store.words == ["kept", "new 1", "new 2"])
    #expect(!states.updates.contains { $0.words.contains("lost") && $0.words.count > 2 })
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 an answer about an earlier connection does not admit the next`() async throws {
    let (log, link, other, replica, foreign) = try makePair()
    await link.say(["one"], as: replica)
    await other.settle(foreign)
    log.backUp()
    // Without its last entry, the replica looks for a snapshot.
    log.purge(before: 2)
    link.holdSnapshots(true)
    link.cut()
    link.connect()
    await until { link.heldCount == 1 }

    link.cut()
    other.cut()
    log.restoreEmpty()
    link.connect()
    await until { link.heldCount == 2 }
    other.connect()
    await foreign.isRead(through: 0)
    await other.say(["new 1", "new 2"], as: foreign)
    link.answerSnapshot()
    await replica.processed()
    link.deliverNext(.max)
    await replica.processed()
    #expect(replica.confirmed.current()?.words == ["one"])
    link.holdSnapshots(false)
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == 2
    }

    #expect(replica.store.words == ["new 1", "new 2"])
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 a log that goes back while the snapshot is read is detected again`() async throws {
    let (log, link, other, replica, foreign) = try makePair()
    await other.say(["kept"], as: foreign)
    log.backUp()
    await other.say(["old 1", "old 2"], as: foreign)
    await link.settle(replica)
    let troubles = Recorder(replica.troubles)
    func restore(appending words: [String]) async {
      link.cut()
      other.cut()
      log.restore()
      other.connect()
      await foreign.isRead(through: 0)
      await other.settle(foreign)
      await other.say(words, as: foreign)
    }

    await restore(appending: ["new 1", "new 2", "new 3", "new 4"])
    link.holdSnapshots(true)
    link.connect()
    await until { link.heldCount == 1 }
    // These entries are ignored, so the next connection must not begin after them.
    link.deliverNext(.max)
    await replica.processed()
    #expect(link.position == 5)
    await restore(appending: ["newer 1", "newer 2"])
    link.holdSnapshots(false)
    link.connect()
    await until {
      link.deliverNext(.max)
      return replica.confirmed.current() == foreign.confirmed.current()
    }

    #expect(replica.store.words == ["kept", "newer 1", "newer 2"])
    #expect(troubles.updates == [.rolledBack(to: 5), .rolledBack(to: 3)])
    await replica.close()
    await foreign.close()
  }

  @Test func `O11 a log that is compacted while its snapshot is read strands no replica`()
    async throws
  {
    let (log, link, other, replica, foreign) = try makePair(snapshotEvery: 2)
    await other.say(["old"], as: foreign)
    await link.settle(replica)
    link.cut()
    other.cut()
    log.restore()
    link.holdSnapshots(true)
    link.connect()
    await until { link.heldCount == 1 }

    // The log had no snapshot at the read, and then loses its first entries.
    other.connect()
    await other.settle(foreign)
    for number in 1...5 {
      foreign.send(.said("\(number)"))
      await other.settle(foreign)
      await until { log.snapshotCount == number / 2 }
    }
    #expect(log.first > 1)
    link.holdSnapshots(false)
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == log.last
    }

    #expect(replica.store.words == (1...5).map { "\($0)" })
    await replica.close()
    await foreign.close()
  }

  @Test func `O11 a snapshot that is newer than the connection is used`() async throws {
    let (log, link, other, replica, foreign) = try makePair(snapshotEvery: 2)
    func send(_ numbers: ClosedRange<Int>) async {
      for number in numbers {
        foreign.send(.said("\(number)"))
        await other.settle(foreign)
        await until { log.snapshotCount == number / 2 }
      }
    }
    await send(1...1)
    await link.settle(replica)
    link.cut()
    await send(2...7)
    link.holdSnapshots(true)
    link.connect()
    await until { link.heldCount == 1 }

    await send(8...13)
    link.holdSnapshots(false)
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == log.last
    }

    #expect(replica.store.words == (1...13).map { "\($0)" })
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 a log whose entries were ignored has not gone back`() async throws {
    let (log, link, other, replica, foreign) = try makePair(snapshotEvery: 2)
    await other.say(["0"], as: foreign)
    await link.settle(replica)
    link.cut()
    for number in 1...7 {
      foreign.send(.said("\(number)"))
      await other.settle(foreign)
      await until { log.snapshotCount == (number + 1) / 2 }
    }
    #expect(log.first > 2)
    let troubles = Recorder(replica.troubles)

    link.holdSnapshots(true)
    link.connect()
    await until { link.heldCount == 1 }
    link.deliverNext(.max)
    await replica.processed()
    link.cut()
    link.holdSnapshots(false)
    link.connect()
    await until {
      link.deliverNext(.max)
      return replica.progress.current()?.sequence == 8
    }

    #expect(replica.store.words == (0...7).map { "\($0)" })
    #expect(troubles.updates == [])
    await replica.close()
    await foreign.close()
  }

  @Test(arguments: [0, 1, 3])
  func `O9 a replica that starts with the state of another log reads this log`(
    _ count: Int
  ) async throws {
    let folder = try Folder()
    do {
      let link = MemoryLog().manualLink()
      let replica = try makeReplica(link, keptIn: folder.url.path)
      await link.say(["elsewhere"], as: replica)
      link.cut()
      replica.send(.said("pending"))
      await replica.close()
    }
    let log = MemoryLog()
    let other = log.manualLink()
    let foreign = try makeReplica(other)
    for number in 0..<count {
      foreign.send(.said("here \(number)"))
      await other.settle(foreign)
    }

    let link = log.manualLink(isCut: true)
    let replica = try makeReplica(link, keptIn: folder.url.path)
    let troubles = Recorder(replica.troubles)
    #expect(replica.store.words == ["elsewhere", "pending"])
    link.connect()
    await link.settle(replica)

    #expect(troubles.updates == [.rolledBack(to: UInt64(count))])
    #expect(replica.store.words == (0..<count).map { "here \($0)" } + ["pending"])
    #expect(replica.confirmed.current() == replica.store.state)
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 an entry that an operator deletes is skipped and reported`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(isCut: true), log.manualLink())
    let foreign = try makeReplica(other)
    await other.say(["one", "two", "three"], as: foreign)
    log.delete(2)

    let replica = try makeReplica(link)
    let troubles = Recorder(replica.troubles)
    link.connect()
    await link.settle(replica)

    #expect(troubles.updates == [.removed(2..<3)])
    #expect(replica.store.words == ["one", "three"])
    await replica.close()
    await foreign.close()
  }

  @Test func `O9 a log without its first entries stops a replica that needs them`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(isCut: true), log.manualLink())
    let foreign = try makeReplica(other)
    await other.say(["one", "two", "three"], as: foreign)
    log.purge(before: 3)

    let replica = try makeReplica(link, retryAfter: .milliseconds(5))
    link.connect()
    await until { replica.progress.current()?.phase == .stopped }

    #expect(replica.progress.current()?.trouble == .missing(1..<3))
    #expect(replica.store.words == [])
    await foreign.close()
  }
}

/// Two replicas of one log, whose connections the test controls.
private func makePair(
  snapshotEvery count: Int = 0
) throws -> (
  log: MemoryLog, link: MemoryLog.Link, other: MemoryLog.Link,
  replica: Replica<Board, BoardAction>, foreign: Replica<Board, BoardAction>
) {
  let log = MemoryLog(snapshotEvery: count)
  let (link, other) = (log.manualLink(), log.manualLink())
  return (log, link, other, try makeReplica(link), try makeReplica(other))
}

extension MemoryLog.Link {
  /// Sends words, each after the decision of the previous one.
  fileprivate func say(_ words: [String], as replica: Replica<Board, BoardAction>) async {
    for word in words {
      replica.send(.said(word))
      await settle(replica)
    }
  }
}

extension Replica<Board, BoardAction> {
  /// Returns when the replica has read exactly the entries up to a sequence.
  func isRead(
    through sequence: UInt64, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await until(progress.current()?.sequence, sourceLocation: sourceLocation) { $0 == sequence }
  }
}
