import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Programs that record until a kill at a random instant.
///
/// `Scripts/soak storms` kills more of them, and later.
@Suite(.light) struct JournalStormTests {
  private let rounds = max(2, scaled(4))

  /// - Parameter isLast: `true` to kill after a new note, because all earlier kills can precede the first.
  /// - Returns: The numbers in the notes of the killed program.
  private func kill(
    _ mode: String, in folder: Folder, _ random: inout SeededGenerator, _ kind: String? = nil,
    isLast: Bool
  ) async throws -> [Int] {
    let child = try Child(
      [mode, folder.path("journal"), folder.path("notes")] + (kind.map { [$0] } ?? []),
      program: "journal-keeper")
    let first = await child.output.until("recording after")
    #expect(first.count == 1 && first[0].hasPrefix("recording after"), "\(first)")
    let before = notes(in: folder)
    try child.write("\n")
    if isLast { await until { notes(in: folder) != before } }
    // At a random instant, not after a condition.
    usleep(UInt32.random(in: 0...UInt32(20_000 * max(1, min(scale, 20))), using: &random))
    child.send(SIGKILL)
    #expect(await child.status() == -SIGKILL)
    return notes(in: folder)
  }

  private func notes(in folder: Folder) -> [Int] {
    let notes = (try? Data(contentsOf: folder.file("notes"))) ?? Data()
    return stride(from: 0, to: notes.count - 7, by: 8).map { place in
      notes[place..<(place + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  @Test func `S39 a commit survives kill -9 once its uncontended send returned`() async throws {
    let folder = try Folder()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    var state = Ledger()
    for round in 1...rounds {
      let returned =
        try await kill("send", in: folder, &random, isLast: round == rounds).first ?? 0

      let journal = try LedgerJournal(folder, every: 100)
      let number = journal.lastNumber
      #expect(number >= returned && number >= state.count)
      while state.count < number { _ = keeping(&state, action(state.count + 1)) }
      #expect(try encoded(journal.replay()) == encoded(state))
    }
    try LedgerJournal(folder).verify()
    #expect(state.count > 0)
    print("\(rounds) kills, \(state.count) actions, none lost")
  }

  @Test(arguments: ["latest", "everything"])
  func `J5 kill -9 during compaction loses no line`(kind: String) async throws {
    let folder = try Folder()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    var state = Ledger()
    for round in 1...rounds {
      let returned =
        try await kill("squeeze", in: folder, &random, kind, isLast: round == rounds).first ?? 0

      let journal = try LedgerJournal(folder)
      let number = journal.lastNumber
      #expect(number >= returned && number >= state.count)
      while state.count < number { _ = keeping(&state, action(state.count + 1)) }
      #expect(try encoded(journal.replay()) == encoded(state))
      #expect(!folder.names.contains("journal.next"))
      if kind == "everything" { #expect(try journal.replay(upTo: 0) == Ledger()) }
      // Each takes as long as the history.
      if rounds < 100 || round.isMultiple(of: 100) {
        try journal.verify()
        let copy = try Folder()
        try JournalReader<Ledger, LedgerAction>(folder.journal).backup(to: copy.url)
        try JournalInspector(copy.journal).read({ _, _ in }, { _ in })
        #expect(try encoded(LedgerJournal(copy).replay()) == encoded(state))
      }
    }
    #expect(state.count > 0)
    print("\(rounds) kills, \(state.count) actions, none lost, \(folder.names)")
  }

  @Test func `S39 flushed commits of four threads survive kill -9 without a gap`()
    async throws
  {
    let folder = try Folder()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    var count = 0
    for round in 1...rounds {
      let flushed = try await kill("threads", in: folder, &random, isLast: round == rounds)

      let journal = try LedgerJournal(folder, every: 100)
      let state = try journal.replay()
      #expect(state.gaps == 0)
      #expect(state.count == journal.lastNumber && state.count >= count)
      count = state.count
      for (thread, number) in flushed.enumerated() {
        #expect((state.last.count > thread ? state.last[thread] : 0) >= number)
      }
    }
    try LedgerJournal(folder).verify()
    #expect(count > 0)
    print("\(rounds) kills, \(count) actions of four threads, none lost")
  }

  @Test func `F28 a durable send that returned survives kill -9`() async throws {
    let folder = try Folder()
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    for round in 1...rounds {
      let returned = try await kill("durable", in: folder, &random, isLast: round == rounds)
      if round == rounds { #expect(returned.contains { $0 > 0 }) }

      let state = try LedgerJournal(folder, every: 100).replay()
      #expect(state.gaps == 0)
      for (thread, number) in returned.enumerated() {
        #expect((state.last.count > thread ? state.last[thread] : 0) >= number)
      }
    }
    try LedgerJournal(folder).verify()
  }

  /// A million of them in `Scripts/soak storms`.
  @Test func `S39 all actions of one program survive kill -9`() async throws {
    let folder = try Folder()
    let count = max(100, scaled(10_000))
    let child = try Child(
      "count", folder.path("journal"), "\(count)", program: "journal-keeper")
    try child.write("\n")
    #expect(await child.output.until("sent") == ["recording after 0", "sent \(count)"])
    child.send(SIGKILL)
    #expect(await child.status() == -SIGKILL)

    let journal = try LedgerJournal(folder)
    var state = Ledger()
    for number in 1...count { _ = keeping(&state, action(number)) }
    #expect(journal.lastNumber == count)
    #expect(try encoded(journal.replay()) == encoded(state))
    try journal.verify()
    print("\(count) actions, none lost")
  }
}
