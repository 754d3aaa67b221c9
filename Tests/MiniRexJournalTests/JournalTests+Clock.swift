import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

private let tenYears = 315_360_000

/// A clock that was wrong for a time.
extension JournalTests {
  /// Records actions with a second each, and a compaction after each tenth action.
  ///
  /// - Parameters:
  ///   - errors: The errors of the clock, by the number of the action.
  ///   - compacts: Returns whether a compaction follows an action.
  private func record(
    _ numbers: ClosedRange<Int>, in folder: Folder, keeping history: JournalHistory,
    errors: [Int: Int], compacts: (Int) -> Bool = { $0 % 10 == 0 }
  ) async throws {
    let second = Shared(0)
    let journal = try LedgerJournal(
      folder.journal, keeping: history, snapshotEvery: 0, sync: .onFlush
    ) { second.value }
    let store = Store(try journal.replay(), reducer: keeping)
    second.value = 1_000_000 + numbers.lowerBound - 1
    let recording = journal.record(store)
    for number in numbers {
      second.value = 1_000_000 + number + (errors[number] ?? 0)
      store.send(action(number))
      if compacts(number) { try await journal.compact() }
    }
    withExtendedLifetime(recording) {}
  }

  private func reopened(_ folder: Folder) throws -> LedgerJournal {
    try LedgerJournal(folder, keeping: .everything)
  }

  /// Each commit of the last 25 seconds, and no more than a file more.
  private func expectSpan(_ folder: Folder, last: Int, _ comment: Comment) throws {
    let journal = try reopened(folder)
    for number in (last - 25)...last {
      #expect(try journal.replay(upTo: number).count == number, comment)
    }
    #expect(journal.status.current()?.firstNumber == last - 30, comment)
    try journal.verify()
  }

  @Test(arguments: [tenYears, 26, -tenYears / 1_000, -3_601, -3_599])
  func `J19 last(for:) keeps its duration if the clock is wrong for one commit`(error: Int)
    async throws
  {
    for wrong in 41...50 {
      let folder = try Folder()
      try await record(
        1...60, in: folder, keeping: .last(for: .seconds(25)), errors: [wrong: error])
      let journal = try reopened(folder)
      for number in 35...60 {
        #expect(try journal.replay(upTo: number).count == number, "\(wrong)")
      }
      // Expiry continues.
      try await withReleased(journal) {
        try await record(61...120, in: folder, keeping: .last(for: .seconds(25)), errors: [:])
      }
      try expectSpan(folder, last: 120, "\(wrong)")
    }
  }

  /// Each commit is also the last of a run.
  private func withReleased(_: LedgerJournal, _ body: () async throws -> Void) async throws {
    try await body()
  }

  @Test func `J19 a clock that is ahead for a file, or in another run, stops no expiry`()
    async throws
  {
    let folder = try Folder()
    let history = JournalHistory.last(for: .seconds(25))
    let errors = Dictionary(uniqueKeysWithValues: (33...47).map { ($0, tenYears) })
    try await record(1...32, in: folder, keeping: .everything, errors: [:])
    // Nothing is deleted while it is wrong, because nothing is compacted with the policy.
    try await record(33...47, in: folder, keeping: .everything, errors: errors)
    try await record(48...120, in: folder, keeping: history, errors: [:])
    try expectSpan(folder, last: 120, "after ten years")
  }

  @Test func `J19 a pause that is longer than the duration ends the span`() async throws {
    let folder = try Folder()
    let history = JournalHistory.last(for: .seconds(25))
    try await record(1...30, in: folder, keeping: history, errors: [:])
    let later = Dictionary(uniqueKeysWithValues: (31...60).map { ($0, 1_000) })
    try await record(31...60, in: folder, keeping: history, errors: later)
    try expectSpan(folder, last: 60, "after a pause")
  }

  @Test(arguments: [false, true])
  func `J21 a date finds its commit if the clock was wrong for one commit`(compacts: Bool)
    async throws
  {
    for wrong in [5, 9, 10, 11, 1_500, 2_000] {
      for error in [tenYears, -tenYears / 1_000] {
        let folder = try Folder()
        try await record(1...wrong + 40, in: folder, keeping: .everything, errors: [wrong: error]) {
          compacts && ($0 % 10 == 0 || $0 == wrong) && $0 > wrong - 20
        }
        let journal = try reopened(folder)
        func number(_ second: Int) throws -> Int {
          try journal.number(at: Date(timeIntervalSince1970: Double(1_000_000 + second)))
        }
        for second in max(1, wrong - 15)...(wrong + 40) where second != wrong {
          #expect(try number(second) == second, "\(wrong) \(error)")
        }
        #expect(try [wrong - 1, wrong].contains(number(wrong)))
        #expect(try number(2 * tenYears) == wrong + 40)
      }
    }
  }

  @Test func `J21 a date after several wrong dates finds a commit`() async throws {
    let folder = try Folder()
    let errors = Dictionary(uniqueKeysWithValues: (21...30).map { ($0, tenYears) })
    try await record(1...60, in: folder, keeping: .everything, errors: errors) { _ in false }
    let journal = try reopened(folder)
    for second in Array(1...20) + Array(31...60) {
      let found = try journal.number(at: Date(timeIntervalSince1970: Double(1_000_000 + second)))
      #expect(found == second)
    }
  }
}
