import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The log for users' tests, which works until a test breaks it.
@Suite(.light)
struct MemoryLogTests {
  @Test func `replicas with links agree by themselves`() async throws {
    let log = MemoryLog(snapshotEvery: 10, keeping: 2)
    let replicas = try (0..<3).map { _ in try makeReplica(log.link()) }
    await withTaskGroup { group in
      for (index, replica) in replicas.enumerated() {
        group.addTask { for number in 1...20 { replica.send(.said("\(index).\(number)")) } }
      }
    }
    for replica in replicas { try await replica.flush() }
    for replica in replicas { try await replica.caughtUp() }
    #expect(replicas[0].store.words.count == 60)
    #expect(replicas.allSatisfy { $0.store.state == replicas[0].store.state })
    for _ in 0..<1_000 where log.first == 1 {
      replicas[0].send(.moved(1))
      try await replicas[0].flush()
    }
    #expect(log.first > 1)
    for replica in replicas { try await replica.caughtUp() }
    // A late replica needs the snapshot.
    let late = try makeReplica(log.link())
    try await late.caughtUp()
    #expect(late.store.state == replicas[0].store.state)
    for replica in replicas + [late] { await replica.close() }
  }

  @Test func `a link that is cut keeps actions pending, and sends them after the connection`()
    async throws
  {
    let log = MemoryLog()
    let (link, other) = (log.link(), log.link())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    link.cut()
    link.cut()
    let sent = replica.send(.said("offline"))
    foreign.send(.said("online"))
    try await foreign.flush()
    #expect(replica.store.words == ["offline"])
    link.connect()
    link.connect()
    #expect(await sent.success() == ReplicaConfirmation(sequence: 2, overtakenBy: 1))
    #expect(replica.store.words == ["online", "offline"])
    await replica.close()
    await foreign.close()
  }

  @Test func `a link can refuse entries, and lose answers`() async throws {
    let log = MemoryLog()
    let link = log.link()
    let replica = try makeReplica(link, retryAfter: .milliseconds(20))
    try await replica.caughtUp()
    let troubles = Recorder(replica.troubles)
    link.isRefusing = true
    for _ in 1...3 {
      replica.send(.said("refused"))
      await replica.processed()
    }
    #expect(await troubles.next() == [.refused("refused")])
    #expect(log.entries.isEmpty && replica.progress.current()?.pending == 3)
    link.isRefusing = false
    try await replica.flush()
    #expect(troubles.updates.count == 1)
    link.losesAnswers = true
    replica.send(.said("unanswered"))
    // The entry arrives, which is a decision without an answer.
    try await replica.flush()
    link.cut()
    link.losesAnswers = false
    link.connect()
    try await replica.caughtUp()
    #expect(replica.confirmed.current()?.words == ["refused", "refused", "refused", "unanswered"])
    await replica.close()
  }

  @Test func `a restored log is read again`() async throws {
    let log = MemoryLog()
    let link = log.link()
    let replica = try makeReplica(link)
    let troubles = Recorder(replica.troubles)
    replica.send(.said("kept"))
    try await replica.flush()
    log.backUp()
    replica.send(.said("lost"))
    try await replica.flush()
    link.cut()
    log.restore()
    link.connect()
    try await replica.caughtUp()
    #expect(replica.store.words == ["kept"])
    #expect(troubles.updates == [.rolledBack(to: 1)])
    await replica.close()
  }

  @Test func `a subscriber of a link may use the link`() async throws {
    let log = MemoryLog()
    let link = log.link()
    let sequences = Shared<[UInt64]>([])
    let subscription = link.entries(after: 0).subscribe { event in
      guard case .entry(let entry) = event else { return }
      sequences.change { $0.append(entry.sequence) }
      if entry.sequence < 5 { link.append(entry.message).subscribe { _ in }.detached() }
      link.isDeaf = false
    }
    link.append(ReplicaMessage(header: "", payload: Data("x".utf8))).subscribe { _ in }.detached()
    await until { sequences.value.count == 5 }
    #expect(sequences.value == [1, 2, 3, 4, 5])
    withExtendedLifetime(subscription) {}
  }
}
