import Foundation
import MiniRex
import MiniRexJournal
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension BoardAction {
  fileprivate func inverse(in _: Board) -> BoardAction? {
    switch self {
    case .moved(let count): .moved(-count)
    case .said(let word): .retracted(word)
    case .retracted(let word): .said(word)
    case .claimed, .repeated: nil
    }
  }
}

/// Undo by inverse actions.
@Suite(.light)
struct UndoTests {
  private func undoLog(of replica: Replica<Board, BoardAction>, limit: Int = 100) -> UndoLog<
    Board, BoardAction
  > {
    UndoLog(of: replica, limit: limit) { board, action in action.inverse(in: board) }
  }

  @Test func `O10 an undo sends the inverse action`() async throws {
    let link = MemoryLog().manualLink()
    let replica = try makeReplica(link)
    replica.send(.moved(3))
    let undo = UndoLog(of: replica) { board, action in action.inverse(in: board) }
    replica.send(.moved(4))
    undo.undo()
    #expect(replica.store.card.moves == 3)
    await replica.close()
  }

  @Test func `O10 undo appends the inverse of this replica's latest action`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    let undo = undoLog(of: replica)
    #expect(!undo.undo() && !undo.redo())
    replica.send(.said("one"))
    replica.store.send(.said("two"))
    replica.store.scope(\.card) { (count: Int) in BoardAction.moved(count) }.send(3)
    await link.settle(replica)
    await other.settle(foreign)
    foreign.send(.said("foreign"))
    await other.settle(foreign)
    await link.settle(replica)

    #expect(undo.undo())
    #expect(replica.store.card.moves == 0)
    #expect(undo.undo())
    // The action of the other replica stays, although it is later.
    #expect(replica.store.words == ["one", "foreign"])
    await link.settle(replica)
    await other.settle(foreign)
    #expect(foreign.store.words == ["one", "foreign"] && foreign.store.card.moves == 0)

    #expect(undo.redo())
    #expect(replica.store.words == ["one", "foreign", "two"])
    replica.send(.said("three"))
    #expect(!undo.redo())
    await link.settle(replica)
    #expect(undo.canUndo.current() == true && undo.canRedo.current() == false)
    for _ in 1...3 { #expect(undo.undo()) }
    #expect(!undo.undo())
    await link.settle(replica)
    #expect(replica.confirmed.current()?.words == ["foreign"])
    #expect(undo.canUndo.current() == false && undo.canRedo.current() == true)
    await replica.close()
    await foreign.close()
  }

  @Test func `O10 a rejected action is not undone`() async throws {
    let log = MemoryLog()
    let (link, other) = (log.manualLink(), log.manualLink())
    let (replica, foreign) = (try makeReplica(link), try makeReplica(other))
    let undo = UndoLog(of: replica) { _, action in
      switch action {
      case .claimed(let id, _): .said("released \(id)")
      default: .moved(1)
      }
    }
    foreign.send(.claimed("job", by: "there"))
    await other.settle(foreign)
    let claim = replica.send(.claimed("job", by: "here"))
    await link.settle(replica)
    #expect(await claim.failure() != nil)

    #expect(!undo.undo())
    #expect(undo.canUndo.current() == false)
    await replica.close()
    await foreign.close()
  }

  @Test(arguments: [(1, 10), (2, 6), (9, 0)])
  func `O10 an undo log keeps the latest actions up to its limit`(_ limit: Int, rest: Int)
    async throws
  {
    let replica = try makeReplica(MemoryLog().manualLink(isCut: true))
    let undo = undoLog(of: replica, limit: limit)
    for number in 1...5 { replica.send(.moved(number)) }

    while undo.undo() {}

    #expect(replica.store.card.moves == rest)
    while undo.redo() {}
    #expect(replica.store.card.moves == 15)
    await replica.close()
  }

  @Test func `O10 concurrent sends and undos keep the record in the order of the commits`()
    async throws
  {
    let link = MemoryLog().manualLink(isCut: true)
    let replica = try makeReplica(link, pendingLimit: 1_000_000)
    let undo = undoLog(of: replica, limit: 1_000_000)
    let undone = Shared(0)
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for number in 1...200 {
            replica.send(.moved(number))
            if number % 3 == 0, undo.undo() { undone.change { $0 += 1 } }
          }
        }
      }
    }
    #expect(undone.value == 4 * 66)
    while undo.undo() {}
    #expect(replica.store.card.moves == 0)
    await replica.close()
  }

  @Test func `O10 a history and a journal of a replica's store trap with advice`() async {
    let history = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let replica = try makeReplica(MemoryLog().manualLink())
      _ = History(of: replica.store)
    }
    let scope = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let replica = try makeReplica(MemoryLog().manualLink())
      _ = History(of: replica.store.scope(\.card) { (count: Int) in BoardAction.moved(count) })
    }
    let journal = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let replica = try makeReplica(MemoryLog().manualLink())
      let folder = try Folder()
      let journal = try Journal<Board, BoardAction>(folder.file("journal"))
      _ = journal.record(replica.store)
    }

    for result in [history, scope, journal] {
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("UndoLog(of:"), "\(text)")
    }
  }
}
