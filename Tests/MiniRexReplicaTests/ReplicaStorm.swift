import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Threads, re-entrant callbacks, cuts, and releases, all concurrently.
@Suite(.heavy)
struct ReplicaStorm {
  @Test func `O2 racing senders and re-entrant callbacks lose and double nothing`() async throws {
    for _ in 0..<max(3, Int(20 * scale)) {
      let folder = try Folder()
      let log = MemoryLog(snapshotEvery: 50, keeping: 5)
      let (link, other) = (log.manualLink(), log.manualLink())
      let replica = try makeReplica(
        link, keptIn: folder.url.path, durability: .synchronized, retryAfter: .milliseconds(20))
      let foreign = try makeReplica(other, retryAfter: .milliseconds(20))
      let undo = UndoLog(of: replica) { _, action in
        if case .moved(let count) = action { .moved(-count) } else { nil }
      }
      let echoes = Shared(0)
      let bag = SubscriptionBag()
      replica.entries.subscribe { entry in
        // A callback sends, undoes, and redoes.
        if case .said(let word) = entry.action, word.hasPrefix("own"), word.hasSuffix("0") {
          if entry.isAccepted { echoes.change { $0 += 1 } }
          replica.send(.said("echo of \(word)"))
          undo.undo()
          undo.redo()
        }
      }.store(in: bag)
      replica.progress.subscribe { _ in _ = replica.store.state }.store(in: bag)

      await withTaskGroup { group in
        for name in ["own a", "own b"] {
          group.addTask {
            for number in 1...60 {
              replica.send(.said("\(name) \(number)"))
              replica.store.send(.moved(1))
              if number % 7 == 0 { undo.undo() }
            }
          }
        }
        group.addTask { for number in 1...60 { foreign.send(.said("foreign \(number)")) } }
        group.addTask {
          for round in 1...30 {
            for link in [link, other] {
              link.acceptNext(losesAnswer: round % 3 == 0)
              link.deliverNext(2)
            }
            if round % 5 == 0 { link.cut() }
            if round % 4 == 0 { other.refuseNext() }
            try? await Task.sleep(for: .microseconds(300))
            link.acceptLate()
            link.connect()
          }
        }
      }
      // Each replica reads the entries of the other, and a callback sends again.
      for _ in 0..<100 {
        await link.settle(replica)
        await other.settle(foreign)
        await replica.processed()
        if replica.progress.current()?.pending == 0, link.undelivered == 0,
          link.inFlightCount == 0, other.undelivered == 0
        {
          break
        }
      }

      let words = replica.store.words
      #expect(Set(words).count == words.count)
      for name in ["own a", "own b", "foreign"] {
        let own = words.filter { $0.hasPrefix("\(name) ") }
        #expect(own == (1...60).map { "\(name) \($0)" })
      }
      // A snapshot may contain a decision that the replica has not read.
      #expect(echoes.value <= 12)
      #expect(replica.confirmed.current() == replica.store.state)
      #expect(foreign.store.state == replica.store.state)
      await replica.close()
      await foreign.close()
    }
  }

  @Test func `O6 a replica that is released during its work releases its folder`() async throws {
    let folder = try Folder()
    let log = MemoryLog(snapshotEvery: 3, keeping: 1)
    var count = 0
    for round in 0..<max(10, Int(40 * scale)) {
      let link = log.manualLink()
      do {
        let replica = try makeReplica(
          link, keptIn: folder.url.path, durability: round % 2 == 0 ? .synchronized : .written)
        for _ in 0..<5 {
          replica.send(.moved(1))
          count += 1
        }
        link.acceptNext(losesAnswer: true)
        link.deliverNext(1)
        if round % 3 == 0 { link.cut() }
      }
      link.cut()
      // The lock of the file is released on the queue of the replica.
      await until {
        (try? makeReplica(log.manualLink(isCut: true), keptIn: folder.url.path)) != nil
      }
      await until { isFree(folder) }
    }

    let link = log.manualLink()
    let replica = try makeReplica(
      link, keptIn: folder.url.path, retryAfter: .milliseconds(20))
    await link.settle(replica)
    #expect(replica.confirmed.current()?.card.moves == count)
    await replica.close()
  }

  private func isFree(_ folder: Folder) -> Bool {
    let descriptor = unsafe open(folder.path("outbox"), O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }
}
