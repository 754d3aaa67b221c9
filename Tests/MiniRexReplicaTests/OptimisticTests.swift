import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Local actions, and the rebase of pending actions on the log.
@Suite(.light)
struct OptimisticTests {
  @Test func `O3 a send commits before it returns`() async throws {
    let link = MemoryLog().manualLink(isCut: true)
    let replica = try makeReplica(link)
    let causes = Recorder(replica.store.events.compactMap { $0.commit.map { "\($0.cause)" } })
    let card = replica.store.scope(\.card) { (count: Int) in BoardAction.moved(count) }

    replica.send(.said("one"))
    #expect(replica.store.words == ["one"])
    replica.store.send(.said("two"))
    #expect(replica.store.words == ["one", "two"])
    card.send(3)
    #expect(replica.store.card.moves == 3)

    #expect(await causes.next(3).count == 3)
    #expect(causes.updates.first == "\(BoardAction.said("one"))")
    #expect(link.inFlightCount == 0 && replica.confirmed.current() == Board())
    await until { replica.progress.current()?.pending == 3 || Task.isCancelled }
    await replica.close()
  }

  @Test func `O4 a rebase is one commit`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    for number in 1...5 { foreign.send(.said("foreign \(number)")) }
    await other.settle(foreign)
    let commits = Recorder(replica.store.events.compactMap(\.commit))
    for number in 1...3 { replica.send(.said("own \(number)")) }

    link.deliverNext(.max)
    await replica.processed()

    let states = commits.updates.map(\.state.words)
    // The log may deliver in several bursts.
    #expect(commits.updates.count <= 3 + log.entries.count && commits.updates.count >= 4)
    let foreignWords = (1...5).map { "foreign \($0)" }
    #expect(states.last == foreignWords + (1...3).map { "own \($0)" })
    // No commit shows the foreign actions without the pending ones.
    #expect(states.dropFirst(3).allSatisfy { Array($0.suffix(3)) == (1...3).map { "own \($0)" } })

    let count = commits.updates.count
    await link.settle(replica)
    // Confirmations in order commit nothing.
    #expect(commits.updates.count == count)
    #expect(replica.confirmed.current() == replica.store.state)
    await replica.close()
    await foreign.close()
  }

  @Test func `O5 a confirmation reports its sequence and its conflicts`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    let exact = replica.send(.said("exact"))
    await link.settle(replica)
    #expect(await exact.success() == ReplicaConfirmation(sequence: 1, overtakenBy: 0))

    let overtaken = replica.send(.said("overtaken"))
    for number in 1...2 {
      foreign.send(.said("\(number)"))
      other.connect()
      await other.settle(foreign)
    }
    await link.settle(replica)

    #expect(await overtaken.success() == ReplicaConfirmation(sequence: 4, overtakenBy: 2))
    await replica.close()
    await foreign.close()
  }

  @Test func `O2 an action that an operator deletes before it is read is sent again`() async throws
  {
    let log = MemoryLog()
    let link = log.manualLink()
    let replica = try makeReplica(link)
    replica.send(.said("one"))
    await link.settle(replica)
    let sent = replica.send(.said("two"))
    await until { link.inFlightCount == 1 }
    link.acceptNext()
    let deleted = log.last
    log.delete(deleted)

    link.cut()
    link.connect()
    await link.settle(replica)
    #expect(try #require(await sent.success()).sequence > deleted)
    #expect(replica.confirmed.current()?.words == ["one", "two"])
    await replica.close()
  }

  @Test func `O5 entries of this replica that are read again overtake nothing`() async throws {
    let log = MemoryLog()
    let link = log.link()
    let replica = try makeReplica(link)
    for number in 1...3 { replica.send(.said("\(number)")) }
    try await replica.flush()
    log.backUp()
    replica.send(.said("lost"))
    try await replica.flush()
    link.cut()
    let pending = replica.send(.said("pending"))
    log.restore()
    link.connect()
    #expect(await pending.success()?.overtakenBy == 0)
    #expect(replica.store.words == ["1", "2", "3", "pending"])
    await replica.close()
  }

  @Test func `O7 a rejected action changes nothing and fails with its error`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    let rejections = Recorder(replica.rejections)
    let claim = replica.send(.claimed("job", by: "here"))
    let count = replica.store.events.compactMap(\.commit)
    let commits = Recorder(count)

    // At the send, which commits nothing.
    let second = replica.send(.claimed("job", by: "again"))
    #expect(await second.failure().map { "\($0)" } == "\(ReplicaError.rejected(Taken()))")
    #expect(commits.updates.isEmpty)
    await #expect(throws: ReplicaError.self) {
      try await replica.store.send(.claimed("job", by: "store")).finished()
    }
    #expect(await rejections.next().map(\.action) == [.claimed("job", by: "store")])
    #expect(replica.store.owners == ["job": "here"])

    // At the decision, where the other replica was first.
    foreign.send(.claimed("job", by: "there"))
    await other.settle(foreign)
    replica.store.send(.claimed("lunch", by: "here"))
    await link.settle(replica)
    #expect(await claim.failure().map { "\($0)" } == "\(ReplicaError.rejected(Taken()))")
    #expect(replica.store.owners == ["job": "there", "lunch": "here"])
    await other.settle(foreign)
    #expect(foreign.store.owners == replica.store.owners)
    await replica.close()
    await foreign.close()
  }

  @Test func `O8 an effect runs once, in the sender, after the decision`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    let entries = Recorder(foreign.entries)

    replica.store.send(.repeated("word"))
    #expect(replica.store.words == ["word"] && replica.store.effectCountIsZero)
    await until { link.inFlightCount == 1 }
    link.acceptNext()
    link.deliverNext(1)
    await until { replica.store.words == ["word", "echo of word"] }
    await link.settle(replica)
    await other.settle(foreign)

    #expect(
      await entries.next(2).map(\.action) == [.repeated("word"), .said("echo of word")])
    #expect(foreign.store.words == ["word", "echo of word"])
    #expect(log.entries.count == 2)
    await replica.close()
    await foreign.close()
  }

  @Test func `O13 pending actions are bounded`() async throws {
    let link = MemoryLog().manualLink(isCut: true)
    let replica = try makeReplica(link, pendingLimit: 2)
    for number in 1...2 { replica.send(.moved(number)) }

    let third = replica.send(.moved(3))

    #expect(
      await third.failure().map { "\($0)" } == "\(ReplicaError.tooManyPending(limit: 2))")
    await #expect(throws: ReplicaError.self) {
      try await replica.store.send(.moved(4)).finished()
    }
    #expect(replica.store.card.moves == 3)
    link.connect()
    await link.settle(replica)
    replica.send(.moved(5))
    await link.settle(replica)
    #expect(replica.confirmed.current()?.card.moves == 8)
    await replica.close()
  }

  @Test func `O14 appends are pipelined and batched`() async throws {
    let log = MemoryLog()
    let link = log.manualLink(isCut: true)
    let replica = try makeReplica(link)
    for number in 1...5_000 { replica.send(.said("a word with the number \(number)")) }

    link.connect()
    await until { link.inFlightCount > 1 }
    await link.settle(replica)

    #expect(log.entries.count >= 2 && log.entries.count < 100)
    #expect(log.entries.allSatisfy { $0.message.payload.count <= 64 << 10 })
    #expect(replica.confirmed.current()?.words.count == 5_000)
    await replica.close()
  }

  /// The next entry leaves with the answer to an entry, or after a millisecond.
  @Test func `O14 actions gather while an entry is in flight`() async throws {
    let log = MemoryLog()
    let link = log.manualLink()
    let replica = try makeReplica(link)
    replica.send(.said("first"))
    await until { link.inFlightCount == 1 }

    let began = ContinuousClock.now
    for number in 1...500 { replica.send(.said("\(number)")) }
    let took = ContinuousClock.now - began
    // No answer has arrived.
    await until { link.inFlightCount > 1 }
    await link.settle(replica)

    #expect(log.entries.count <= 3 + Int(took / .milliseconds(1)))
    #expect(replica.confirmed.current()?.words.count == 501)
    await replica.close()
  }

  private struct Counted: Codable, Sendable {
    static let decoded = Shared(0)

    let number: Int

    init(number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
      Self.decoded.increment()
      number = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  @Test func `O1 a sender decides its own lines without decoding them`() async throws {
    let log = MemoryLog()
    let link = log.link()
    func make() throws -> Replica<Int, Counted> {
      try Replica(0, of: link, verifies: false, retryAfter: .seconds(600)) { state, action in
        state += action.number
        return .none
      }
    }
    let replica = try make()
    for number in 1...100 { replica.send(Counted(number: number)) }
    try await replica.flush()
    #expect(replica.confirmed.current() == 5_050 && Counted.decoded.value == 0)

    // Another replica, and the next life of this one, read the same.
    let other = try make()
    try await other.caughtUp()
    #expect(other.confirmed.current() == 5_050 && Counted.decoded.value == 100)
    await replica.close()
    await other.close()
  }

  @Test func `O16 a stranger's message is skipped, and an undecodable entry stops the replica`()
    async throws
  {
    let log = MemoryLog()
    let (link, writer) = (log.manualLink(), log.manualLink())
    let replica = try makeReplica(link)
    func write(_ header: String, _ text: String) {
      let message = ReplicaMessage(header: header, payload: Data(text.utf8))
      writer.append(message).subscribe { _ in }.detached()
      writer.acceptAll()
    }
    write("", "a stranger")
    write("origin x y", "{}")
    write("origin \(Int.max) 0", "{}")
    write("origin 1 0", #"{"said":{"_0":"first"}}"#)
    write("origin 2 1", #"{"sang":{"_0":"later"}}"#)
    write("origin 3 2", #"{"said":{"_0":"third"}}"#)
    let pending = replica.send(.said("own"))

    link.deliverNext(6)

    await until { replica.progress.current()?.phase == .stopped }
    let trouble = try #require(replica.progress.current()?.trouble)
    guard case .undecodable(5, _) = trouble else {
      Issue.record("\(trouble)")
      return
    }
    #expect(replica.confirmed.current()?.words == ["first"])
    #expect(replica.progress.current()?.sequence == 4)
    #expect(await pending.failure().map { "\($0)" } == "\(ReplicaError.stopped(trouble))")
    await replica.close()
  }
}

extension Store {
  fileprivate var effectCountIsZero: Bool { effectCount == 0 }
}

extension Publisher where Kind == TaskKind {
  /// Returns the error, or `nil` if the task succeeds.
  func failure<Success: Sendable>() async -> ReplicaError?
  where Update == Result<Success, ReplicaError> {
    if case .failure(let error)? = await result { error } else { nil }
  }

  /// Returns the success, or `nil` if the task fails.
  func success<Success: Sendable>() async -> Success?
  where Update == Result<Success, ReplicaError> {
    if case .success(let value)? = await result { value } else { nil }
  }
}
