import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

extension JournalTests {
  /// Records `rounds` times 10 actions with a second each, and a compaction after each round.
  ///
  /// - Returns: The state after each action.
  private func record(
    _ rounds: Int, in folder: Folder, keeping history: JournalHistory, _ second: Shared<Int>
  ) async throws -> [Ledger] {
    let journal = try LedgerJournal(
      folder.journal, keeping: history, snapshotEvery: 0, sync: .onFlush
    ) { second.value }
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    var states = [store.state]
    for _ in 1...rounds {
      for _ in 1...10 {
        second.value += 1
        store.send(action(store.state.count + 1))
        states.append(store.state)
      }
      try await journal.compact()
    }
    withExtendedLifetime(recording) {}
    return states
  }

  @Test func `J19 last(commits:) keeps its commits, and at most one file more`() async throws {
    let folder = try Folder()
    let states = try await record(6, in: folder, keeping: .last(commits: 25), Shared(1_000))
    #expect(folder.segments == ["000004-30.journal", "000005-40.journal", "000006-50.journal"])
    let journal = try LedgerJournal(folder, keeping: .last(commits: 25))
    #expect(journal.status.current()?.firstNumber == 30)
    for number in 30...60 { #expect(try journal.replay(upTo: number) == states[number]) }
    let verification = try journal.verify()
    #expect(verification == .init(firstNumber: 30, lastNumber: 60, statesCompared: 3))
  }

  @Test func `J19 last(for:) keeps its duration, and at most one file more`() async throws {
    let folder = try Folder()
    let states = try await record(6, in: folder, keeping: .last(for: .seconds(25)), Shared(1_000))
    #expect(folder.segments == ["000004-30.journal", "000005-40.journal", "000006-50.journal"])
    let journal = try LedgerJournal(folder)
    for number in 35...60 { #expect(try journal.replay(upTo: number) == states[number]) }
  }

  @Test func `J19 everything deletes no file, and latestState keeps none`() async throws {
    let (folder, second) = (try Folder(), Shared(1_000))
    let states = try await record(6, in: folder, keeping: .everything, second)
    #expect(folder.segments.count == 6)
    let journal = try LedgerJournal(folder)
    for number in 0...60 { #expect(try journal.replay(upTo: number) == states[number]) }
    withExtendedLifetime(journal) {}

    let short = try Folder()
    _ = try await record(3, in: short, keeping: .latestState, second)
    #expect(short.names == ["journal"])
  }

  @Test func `J19 a history of less than one commit or second traps with advice`() async {
    let commits = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = JournalHistory.last(commits: 0)
    }
    #expect(advice(commits).contains("a count of 1 or more"))
    let duration = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = JournalHistory.last(for: .zero)
    }
    #expect(advice(duration).contains("a duration of one second or more"))
  }

  @Test func `J20 only files with the name of a closed file count`() async throws {
    let folder = try Folder()
    _ = try await record(2, in: folder, keeping: .everything, Shared(1_000))
    #expect(folder.segments == ["000001-0.journal", "000002-10.journal"])
    let foreign = [
      "1-0.journal", "0000001-0.journal", "000001-00.journal", "000001-0.journal.gz",
      "000001.journal",
      "000001--0.journal", "000001-0-0.journal", "00000a-0.journal", "-.journal", ".journal", "-",
      "000001-9223372036854775808.journal", "000001-1000000000000000000.journal",
    ]
    for name in foreign {
      try Data().write(to: folder.file("journal.segments/" + name))
    }
    #expect(try LedgerJournal(folder).status.current()?.segments == 2)
    #expect(JournalSegment(name: "1000000-999999999999999999.journal".utf8)?.first == largestNumber)
  }

  @Test func `J20 a number before the first kept commit throws notKept`() async throws {
    let folder = try Folder()
    _ = try await record(6, in: folder, keeping: .last(commits: 25), Shared(1_000))
    let journal = try LedgerJournal(folder)
    for number in [-1, 0, 29] {
      #expect(throws: JournalFailure.notKept(first: 30)) { try journal.replay(upTo: number) }
    }
    // A file that was moved away.
    try FileManager.default.removeItem(at: folder.file("journal.segments/000005-40.journal"))
    #expect(throws: JournalFailure.notKept(first: 50)) { try journal.replay(upTo: 45) }
    for number in [40, 50, 55] { #expect(try journal.replay(upTo: number).count == number) }
    #expect(try journal.verify().lastNumber == 60)
  }

  @Test func `J21 a date names the last commit of its second`() async throws {
    let (folder, second) = (try Folder(), Shared(1_000))
    _ = try await record(3, in: folder, keeping: .everything, second)
    do {
      let journal = try LedgerJournal(
        folder.journal, keeping: .everything, snapshotEvery: 20, sync: .onFlush
      ) { second.value }
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      // Two commits in each second, over several blocks.
      for number in 31...3_030 {
        if number % 2 == 1 { second.value += 1 }
        store.send(action(number))
      }
      withExtendedLifetime(recording) {}
    }
    let journal = try LedgerJournal(folder)
    func number(_ second: Double) throws -> Int {
      try journal.number(at: Date(timeIntervalSince1970: second))
    }
    #expect(throws: JournalFailure.notKept(first: 0)) { try number(999.9) }
    #expect(try number(1_000) == 0)
    for age in 1...30 { #expect(try number(1_000 + Double(age) + 0.5) == age) }
    for pair in stride(from: 1, through: 1_500, by: 37) {
      #expect(try number(1_030 + Double(pair)) == 30 + 2 * pair)
    }
    #expect(try number(1e12) == 3_030)
    #expect(try LedgerJournal(try Folder()).number(at: .now) == 0)
  }
}
