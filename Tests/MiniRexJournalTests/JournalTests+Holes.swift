import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Lines that a power loss has revoked, before a later state that reached the disk.
extension JournalTests {
  /// Replaces the sectors of a line that contain no other line with zeros.
  private func lose(_ line: String, in folder: Folder) throws {
    var bytes = try folder.bytes()
    let range = try #require(bytes.firstRange(of: Data(line.utf8)))
    let sectors = (range.lowerBound + 511) / 512 * 512..<range.upperBound / 512 * 512
    #expect(!sectors.isEmpty)
    bytes.replaceSubrange(sectors, with: Data(count: sectors.count))
    try folder.write(bytes, to: "journal")
  }

  private func line(_ part: String, in folder: Folder) throws -> String {
    try #require(try folder.lines().first { $0.contains(part) })
  }

  /// Expects all states that do not need the lost line, before and after the next recording closes the file.
  private func expect(
    _ states: [Int: Ledger], without lost: Int?, in folder: Folder
  ) throws {
    for isClosed in [false, true] {
      let journal = try LedgerJournal(folder)
      if isClosed {
        let recording = journal.record(Store(try journal.replay(), reducer: keeping))
        recording.invalidate()
        #expect(journal.problem == nil && folder.segments.count == 1)
      }
      for (number, state) in states.sorted(by: { $0.key < $1.key }) {
        #expect(try journal.replay(upTo: number) == state, "\(number), \(isClosed)")
      }
      if let lost {
        #expect(throws: JournalFailure.self, "\(isClosed)") { try journal.replay(upTo: lost) }
      }
    }
  }

  @Test func `J7 upTo of a durable commit does not need the lost line after it`() async throws {
    let folder = try Folder()
    var states: [Int: Ledger] = [:]
    do {
      let journal = try LedgerJournal(folder, every: 3)
      let store = Store(Ledger(), reducer: keeping)
      let recording = journal.record(store)
      for number in 1...6 {
        store.send(number == 5 ? .note(String(repeating: "x", count: 2_000)) : action(number))
        states[number] = store.state
        if number == 4 { try await journal.flush() }
      }
      withExtendedLifetime(recording) {}
    }
    try lose(line(#""number":5,"#, in: folder), in: folder)

    states[5] = nil
    try expect(states, without: 5, in: folder)
  }

  /// The snapshot of the commit, and the first line of the next recording, have its number.
  @Test(arguments: ["snapshot", "start"])
  func `J7 upTo of a durable commit does not need a lost state after it`(kind: String) async throws
  {
    let folder = try Folder()
    var states: [Int: Ledger] = [:]
    let text = String(repeating: "x", count: 2_000)
    do {
      let journal = try LedgerJournal(folder, every: kind == "snapshot" ? 2 : 0)
      let store = Store(Ledger(notes: [text]), reducer: keeping)
      let recording = journal.record(store)
      for number in 1...2 {
        store.send(action(number))
        states[number] = store.state
      }
      try await journal.flush()
      recording.invalidate()
      journal.record(Store(Ledger(notes: [text, "another"]), reducer: keeping)).invalidate()
    }
    do {
      let journal = try LedgerJournal(folder, every: 0)
      let store = Store(Ledger(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(1))
      states[3] = store.state
      withExtendedLifetime(recording) {}
    }
    try lose(line(kind == "start" ? "another" : #""snapshot""#, in: folder), in: folder)

    try expect(states, without: nil, in: folder)
  }

  /// Nothing but a later commit proves a state that has the number of a durable commit.
  @Test func `J14 the first line of a recording is rewritten with its commits`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...2 { store.send(action(number)) }
    try await journal.flush()
    recording.invalidate()
    let next = journal.record(Store(Ledger(notes: ["other"]), reducer: keeping))
    let lines = try folder.lines()
    #expect(lines.last?.contains(#""number":2,"synced":2,"start":"#) == true)
    let place = try folder.bytes().count - (lines.last?.utf8.count ?? 0) - 1
    func unconfirmed() throws -> Int? {
      try JournalScan(of: openRegularFile(folder.path("journal"), O_RDONLY)).unconfirmed
    }
    #expect(try unconfirmed() == place)
    next.invalidate()
    let third = Store(Ledger(notes: ["third"]), reducer: keeping)
    let last = journal.record(third)
    let length = try folder.bytes().count
    third.send(action(3))
    #expect(try unconfirmed() ?? 0 < length)
    try await journal.flush()
    third.send(action(4))
    #expect(try unconfirmed() ?? 0 > length)
    withExtendedLifetime(last) {}
  }
}
