import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Copied, forgotten, and old outboxes.
@Suite(.light)
struct OriginTests {
  private func copy(_ folder: Folder) throws -> Folder {
    let copy = try Folder()
    for name in folder.names where name != "state.new" {
      try Data(contentsOf: folder.file(name)).write(to: copy.file(name))
    }
    return copy
  }

  @Test(arguments: [false, true])
  func `O17 an origin belongs to one process`(_ isBehind: Bool) async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let (link, other) = (log.manualLink(isCut: isBehind), log.manualLink(isCut: true))
    let replica = try makeReplica(link, keptIn: folder.url.path)
    let copied = try copy(folder)
    let second = try makeReplica(other, keptIn: copied.url.path)
    link.connect()
    replica.send(.said("original"))
    await link.settle(replica)

    // Without a pending action, the copy has not used the number.
    let pending = isBehind ? nil : second.send(.said("copy"))
    other.connect()
    await until {
      other.deliverNext(.max)
      return second.progress.current()?.phase == .stopped
    }

    #expect(second.progress.current()?.trouble == .originInUse)
    if let pending { #expect(await pending.failure() != nil) }
    replica.send(.said("goes on"))
    other.acceptAll()
    await link.settle(replica)
    #expect(replica.confirmed.current()?.words == ["original", "goes on"])
    await replica.close()
  }

  @Test func `O17 an origin is forgotten after 30 days of the log's time`() async throws {
    let log = MemoryLog(snapshotEvery: 1, keeping: 0)
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, idle) = (try makeReplica(link), try makeReplica(other))
    idle.send(.said("idle"))
    await other.settle(idle)
    await until { log.snapshotCount == 1 }
    for (days, count) in [(29, 2), (2, 1)] {
      log.advance(by: .seconds(86_400 * days))
      replica.send(.said("\(days)"))
      await link.settle(replica)
      await until { log.snapshotCount >= log.last }
      let data = try #require(await log.manualLink().snapshot(through: .max).result)
      let text = String(decoding: try #require(try data.get()), as: UTF8.self)
      #expect(text.components(separatedBy: #""number""#).count - 1 == count, "\(text)")
    }

    // Its next action has a number that no table has.
    await other.settle(idle)
    idle.send(.said("back"))
    await other.settle(idle)
    await link.settle(replica)
    #expect(replica.confirmed.current()?.words == ["idle", "29", "2", "back"])
    #expect(idle.store.state == replica.store.state)
    await replica.close()
    await idle.close()
  }

  @Test(arguments: [false, true])
  func `O17 an older outbox fails the actions that it may have sent`(
    _ isRestarted: Bool
  ) async throws {
    let folder = try Folder()
    let log = MemoryLog(snapshotEvery: 2, keeping: 0)
    let (link, other) = (log.manualLink(), log.manualLink())
    var replica = try makeReplica(link, keptIn: folder.url.path)
    let foreign = try makeReplica(other)
    await link.settle(replica)
    let sent = replica.send(.said("sent"))
    await until { link.inFlightCount == 1 }
    // The log decides it, and the replica does not learn it.
    link.acceptNext(losesAnswer: true)
    link.cut()
    let unsent = replica.send(.said("not sent"))
    log.advance(by: .seconds(86_400 * 31))
    for number in 1...6 {
      foreign.send(.said("\(number)"))
      await other.settle(foreign)
      if number % 2 == 1 { await until { log.snapshotCount == (number + 1) / 2 } }
    }
    await until { log.first > 3 }
    var rejected: Recorder<Rejection<BoardAction>>?
    var again = link
    if isRestarted {
      await replica.close()
      again = log.manualLink(isCut: true)
      replica = try makeReplica(again, keptIn: folder.url.path)
      rejected = Recorder(replica.rejections)
    }

    again.connect()
    await again.settle(replica)

    #expect(replica.confirmed.current()?.words == ["sent"] + (1...6).map { "\($0)" } + ["not sent"])
    if let rejected {
      let rejection = await rejected.next().first
      #expect(rejection?.action == .said("sent"))
      guard case .unresolved? = rejection?.error else {
        Issue.record("\(String(describing: rejection))")
        return
      }
    } else {
      guard case .unresolved? = await sent.failure() else {
        Issue.record("The action has a decision.")
        return
      }
      #expect(await unsent.success() != nil)
    }
    await other.settle(foreign)
    #expect(foreign.store.state == replica.store.state)
    await replica.close()
    await foreign.close()
  }

  @Test func `O17 an old action that the log still has is confirmed`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (
      try makeReplica(link, keptIn: folder.url.path), try makeReplica(other)
    )
    await link.settle(replica)
    let sent = replica.send(.said("sent"))
    await until { link.inFlightCount == 1 }
    link.acceptNext(losesAnswer: true)
    link.cut()
    log.advance(by: .seconds(86_400 * 31))
    foreign.send(.said("foreign"))
    await other.settle(foreign)

    link.connect()
    await link.settle(replica)

    #expect(await sent.success()?.sequence == 1)
    #expect(replica.confirmed.current()?.words == ["sent", "foreign"])
    await replica.close()
    await foreign.close()
  }

  @Test func `O2 the time of a log passes during a deaf connection, and repeats no action`()
    async throws
  {
    let log = MemoryLog()
    let (link, other) = (log.link(), log.link())
    let replica = try makeReplica(link, retryAfter: .milliseconds(20))
    let foreign = try makeReplica(other)
    try await replica.caughtUp()
    link.isDeaf = true
    let sent = replica.send(.said("once"))
    try await foreign.caughtUp()
    // Until the time passes, the replica may send again, and a busy machine lets it.
    await until { log.last >= 1 }
    link.isRefusing = true
    await replica.processed()
    log.advance(by: .seconds(86_400 * 31))
    // An entry that it was about to send before is refused.
    await replica.processed()
    link.isRefusing = false
    let count = log.last
    foreign.send(.said("foreign"))
    try await foreign.flush()
    // The replica would send again meanwhile.
    try await Task.sleep(for: .milliseconds(200))
    #expect(log.last == count + 1)
    link.isDeaf = false
    #expect(await sent.success()?.sequence == 1)
    try await replica.caughtUp()
    try await foreign.caughtUp()
    #expect(replica.store.words == ["once", "foreign"])
    #expect(foreign.store.state == replica.store.state)
    await replica.close()
    await foreign.close()
  }

  @Test func `O2 a deaf connection that lost an entry sends it again`() async throws {
    let log = MemoryLog()
    let link = log.manualLink()
    let replica = try makeReplica(link, retryAfter: .milliseconds(20))
    await replica.processed()
    let sent = replica.send(.said("once"))
    await until { link.inFlightCount > 0 }
    link.refuseNext()
    await until { link.inFlightCount > 0 }
    await link.settle(replica)
    #expect(await sent.success()?.sequence == 1)
    await replica.close()
  }
}
