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
  /// Records actions with a second or a step each, and a compaction after each tenth action.
  ///
  /// - Parameters:
  ///   - errors: The errors of the clock, by the number of the action.
  ///   - compacts: Returns whether a compaction follows an action.
  private func record(
    _ numbers: ClosedRange<Int>, in folder: Folder, keeping history: JournalHistory,
    errors: [Int: Int] = [:], step: Int = 1, compacts: (Int) -> Bool = { $0 % 10 == 0 }
  ) async throws {
    let second = Shared(0)
    let journal = try LedgerJournal(
      folder.journal, keeping: history, snapshotEvery: 0, sync: .onFlush
    ) { second.value }
    let store = Store(try journal.replay(), reducer: keeping)
    func set(_ number: Int) { second.value = 1_000_000 + number * step + (errors[number] ?? 0) }
    set(numbers.lowerBound - 1)
    let recording = journal.record(store)
    for number in numbers {
      set(number)
      store.send(action(number))
      if compacts(number) { try await journal.compact() }
    }
    withExtendedLifetime(recording) {}
  }

  /// Expects each commit of the last 25 steps, and at most one file more.
  private func expectSpan(_ folder: Folder, last: Int, _ comment: Comment) throws {
    let journal = try LedgerJournal(folder)
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
    let history = JournalHistory.last(for: .seconds(25))
    for wrong in [45, 49, 50] {
      let folder = try Folder()
      try await record(1...50, in: folder, keeping: history, errors: [wrong: error])
      for number in 25...50 {
        #expect(try LedgerJournal(folder).replay(upTo: number).count == number, "\(wrong)")
      }
      // Expiry continues, even after a restart.
      try await record(51...120, in: folder, keeping: history)
      try expectSpan(folder, last: 120, "\(wrong)")
    }
  }

  @Test func `J19 a clock that was ahead for several files does not stop expiry`() async throws {
    let folder = try Folder()
    let history = JournalHistory.last(for: .seconds(25 * 200))
    let errors = Dictionary(uniqueKeysWithValues: (33...47).map { ($0, tenYears) })
    try await record(1...32, in: folder, keeping: .everything, step: 200)
    // No file is deleted while it is wrong.
    try await record(33...47, in: folder, keeping: .everything, errors: errors, step: 200)
    try await record(48...60, in: folder, keeping: history, step: 200)
    try expectSpan(folder, last: 60, "behind")
    try await record(61...120, in: folder, keeping: history, step: 200)
    try expectSpan(folder, last: 120, "after ten years")
  }

  @Test func `J19 a pause that is longer than the duration ends the span`() async throws {
    let folder = try Folder()
    let history = JournalHistory.last(for: .seconds(25))
    try await record(1...30, in: folder, keeping: history)
    let later = Dictionary(uniqueKeysWithValues: (30...60).map { ($0, 1_000) })
    try await record(31...60, in: folder, keeping: history, errors: later)
    try expectSpan(folder, last: 60, "after a pause")
  }

  @Test func `J15 a file that began in the future is due when its lines weigh enough`() {
    let history = JournalHistory.last(for: .seconds(1_000))
    func isDue(_ length: Int, _ seconds: Int) -> Bool {
      JournalWeight().isDue(history, length: length, commits: 1, seconds: seconds)
    }
    #expect(isDue(2 << 20, -tenYears) && !isDue(1 << 10, -tenYears))
    #expect(!isDue(2 << 20, 249) && isDue(2 << 20, 250))
  }

  @Test(arguments: [false, true])
  func `J21 a date finds its commit if the clock was wrong for one commit`(compacts: Bool)
    async throws
  {
    for wrong in [5, 9, 10, 11] {
      for error in [tenYears, -tenYears / 1_000] {
        let folder = try Folder()
        let last = wrong + 40
        try await record(1...last, in: folder, keeping: .everything, errors: [wrong: error]) {
          compacts && ($0 % 10 == 0 || $0 == wrong) && $0 > wrong - 20
        }
        let journal = try LedgerJournal(folder)
        func number(_ second: Int) throws -> Int {
          try journal.number(at: Date(timeIntervalSince1970: Double(1_000_000 + second)))
        }
        for second in max(1, wrong - 15)...last where second != wrong {
          let found = try number(second)
          // A commit without a date counts as made with the commit before it.
          let expected = error < 0 && second == wrong - 1 ? [wrong - 1, wrong] : [second]
          #expect(expected.contains(found), "\(wrong) \(error) \(second): \(found)")
        }
        #expect(try [wrong - 1, wrong].contains(number(wrong)))
        #expect(try number(2 * tenYears) == last)
      }
    }
  }

  @Test func `J21 a search that meets a wrong date continues after it`() async throws {
    let count = 800
    let plain = try Folder()
    try await record(1...count, in: plain, keeping: .everything) { _ in false }
    let lines = try plain.lines()
    var (place, middle) = (0, 0)
    while place < (try plain.bytes().count / 2) {
      place += lines[middle].utf8.count + 1
      middle += 1
    }
    let found = try #require(
      lines[middle].firstMatch(of: /"number":([0-9]+)/).flatMap { Int($0.1) })
    #expect(try plain.bytes().count > 1 << 16)
    // The search looks at the line before the middle. The other date has more digits.
    for wrong in (found - 4)...found {
      let folder = try Folder()
      try await record(1...count, in: folder, keeping: .everything, errors: [wrong: tenYears]) {
        _ in false
      }
      let journal = try LedgerJournal(folder)
      for number in [wrong + 1, wrong + 100, count - 1] {
        let date = Date(timeIntervalSince1970: Double(1_000_000 + number))
        #expect(try journal.number(at: date) == number, "\(wrong)")
      }
    }
  }

  @Test func `J21 dates are right again an hour after several wrong dates`() async throws {
    let folder = try Folder()
    let errors = Dictionary(uniqueKeysWithValues: (21...30).map { ($0, tenYears) })
    try await record(
      1...80, in: folder, keeping: .everything, errors: errors, step: 200
    ) { _ in false }
    let journal = try LedgerJournal(folder)
    for number in 1...80 {
      let date = Date(timeIntervalSince1970: Double(1_000_000 + 200 * number))
      let found = try journal.number(at: date)
      let isRight = (21...48).contains(number) ? (20...48).contains(found) : found == number
      #expect(isRight, "\(number): \(found)")
    }
  }
}
