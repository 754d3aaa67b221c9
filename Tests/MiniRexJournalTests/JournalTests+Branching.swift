import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Closed files of two branches in one folder, and damaged closed files.
extension JournalTests {
  /// Sends the actions of each list, with a compaction between two lists.
  private func record(
    _ folder: Folder, _ files: [[LedgerAction]], every distance: Int = 1_000,
    keeping history: JournalHistory = .everything
  ) async throws {
    let journal = try LedgerJournal(folder, every: distance, keeping: history)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    for (index, actions) in files.enumerated() {
      if index > 0 { try await journal.compact() }
      for action in actions { store.send(action) }
    }
    try await journal.flush()
    withExtendedLifetime(recording) {}
  }

  /// Records two branches that begin with the same commit, and then has the first at the path of the journal.
  ///
  /// The closed files of the second are beside it.
  private func recordBranches(
    in folder: Folder, after start: LedgerAction, _ own: [[LedgerAction]],
    _ other: [[LedgerAction]], every distance: Int = 1_000
  ) async throws {
    try await record(folder, [[start]])
    let copy = try folder.bytes()
    try await record(folder, own, every: distance)
    try folder.move("journal", to: "one")
    try folder.write(copy, to: "journal")
    try await record(folder, other, every: distance)
    try folder.move("journal", to: "two")
    try folder.move("one", to: "journal")
  }

  private func states(after actions: [LedgerAction]) -> [Ledger] {
    var states = [Ledger()]
    for action in actions {
      var state = states[states.count - 1]
      _ = keeping(&state, action)
      states.append(state)
    }
    return states
  }

  private func states(_ folder: Folder) throws -> [Ledger] {
    let journal = try LedgerJournal(folder)
    return try (0...journal.lastNumber).map { number in try journal.replay(upTo: number) }
  }

  /// Two branches begin with the same file, and then have files with the same sequence numbers and other first numbers.
  @Test
  func `J19 a journal uses no file of another branch beside its own with the same sequence number`()
    async throws
  {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one, one, one], [one]])
    let copy = try folder.bytes()
    let files = Array(repeating: [one, one, one], count: 4)
    try await record(folder, files)
    let states = try states(folder)
    try folder.move("journal", to: "one")
    try folder.write(copy, to: "journal")
    let two = LedgerAction.pay("two", 1)
    try await record(folder, [[two], [two], [two]])
    #expect(
      folder.segments == ["000001-0.journal", "000002-3.journal", "000003-5.journal", "branch-1"])

    // A person continues the first branch, and moves away only the file whose name is taken.
    try folder.move("journal", to: "two")
    try folder.move("one", to: "journal")
    try folder.move("journal.segments/000002-3.journal", to: "another")
    for name in ["000002-3", "000003-7", "000004-10"] {
      try folder.move(
        "journal.segments/branch-1/\(name).journal", to: "journal.segments/\(name).journal")
    }
    let foreign = try Data(contentsOf: folder.file("journal.segments/000003-5.journal"))
    do {
      let journal = try LedgerJournal(folder)
      for (number, state) in states.enumerated() {
        #expect((try? journal.replay(upTo: number)) == state, "\(number)")
      }
      #expect(try journal.verify().firstNumber == 0)
      #expect(journal.status.current()?.segments == 4)
    }
    try await record(folder, [[one], [one]], keeping: .last(commits: 1))
    let moved = folder.file("journal.segments/branch-2/000003-5.journal")
    #expect((try? Data(contentsOf: moved)) == foreign)
  }

  /// A file that ends before the last line, with intact lines up to its commit, is not too short.
  @Test func `J19 no reader takes a state of another branch whose file is shorter`() async throws {
    let folder = try Folder()
    let (one, two) = (LedgerAction.pay("a long name", 1), LedgerAction.pay("two", 1))
    try await recordBranches(
      in: folder, after: one, [[one, one, one], [one]], [[two, two, two], [two]])
    let journal = try LedgerJournal(folder)
    for number in 0...3 {
      #expect(throws: JournalFailure.notKept(first: 4)) { try journal.replay(upTo: number) }
    }
    #expect(try journal.replay(upTo: 4).accounts == ["a long name": 4])
    #expect(try journal.verify().firstNumber == 4)
  }

  @Test(arguments: [JournalHistory.last(commits: 1), .latestState])
  func `J19 no policy deletes a damaged file after the files behind it have expired`(
    history: JournalHistory
  ) async throws {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one, one], [one], [one], [one]])
    let name = "journal.segments/000001-0.journal"
    var bytes = try Data(contentsOf: folder.file(name))
    // Without its last line, it could be the beginning of another branch.
    let end = try #require(bytes.dropLast().lastIndex(of: 10))
    bytes = bytes.prefix(end + 1)
    try folder.write(bytes, to: name)
    for _ in 1...3 {
      try await record(folder, [[one], [one]], keeping: history)
      // Without the last closed file, the files before it do not count.
      let place = history == .latestState ? "journal.segments/branch-1/000001-0.journal" : name
      let (now, first) = (
        try? Data(contentsOf: folder.file(name)), try? Data(contentsOf: folder.file(place))
      )
      #expect(now == bytes || first == bytes)
    }
  }

  @Test(arguments: [0, 20, 200])
  func `J30 a backup has damaged closed files as well`(place: Int) async throws {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one, one], [one], [one]])
    let name = "journal.segments/000001-0.journal"
    var bytes = try Data(contentsOf: folder.file(name))
    bytes[place] = 0
    try folder.write(bytes, to: name)
    let copy = try Folder()
    try LedgerReader(folder.journal).backup(to: copy.url)
    #expect(try Data(contentsOf: copy.file(name)) == bytes)
    #expect(copy.segments == folder.segments)
  }

  /// A bit of the number of a later line has changed.
  @Test func `J7 upTo does not return the state of the next run before a damaged line`() throws {
    let folder = try Folder()
    for name in ["first", "second", "third"] {
      let journal = try LedgerJournal(folder)
      let store = Store(Ledger(notes: [name]), reducer: keeping)
      let recording = journal.record(store)
      for _ in 1...2 { store.send(.pay(name, 1)) }
      recording.invalidate()
    }
    let state = try LedgerJournal(folder).replay(upTo: 2)
    var text = String(decoding: try folder.bytes(), as: UTF8.self)
    let range = try #require(text.firstRange(of: #""number":4,"#))
    text.replaceSubrange(range, with: #""number":0,"#)
    try folder.write(Data(text.utf8), to: "journal")
    #expect(try LedgerJournal(folder).replay(upTo: 2) == state)
  }

  /// The lines of both branches are equally long, and their last lines are equal.
  @Test
  func `J19 a restored original does not take a file of its copy that ends with the same line`()
    async throws
  {
    let folder = try Folder()
    let (one, two, three) = (
      LedgerAction.pay("one", 1), LedgerAction.pay("two", 1), LedgerAction.pay("all", 1)
    )
    try await recordBranches(
      in: folder, after: three, [[one, one, three], [three]], [[two, two, three], [three]])
    let foreign = try Data(contentsOf: folder.file("journal.segments/000001-0.journal"))
    do {
      let journal = try LedgerJournal(folder)
      #expect(journal.status.current()?.firstNumber == 4)
      #expect(throws: JournalFailure.notKept(first: 4)) { try journal.replay(upTo: 2) }
    }
    try await record(folder, [[one], [one], [one]], keeping: .last(commits: 1))
    let moved = folder.file("journal.segments/branch-2/000001-0.journal")
    #expect((try? Data(contentsOf: moved)) == foreign)
  }

  /// Records two branches that differ in one line, and in the states of six commits, before the 4 KiB that opening compares.
  ///
  /// - Returns: The states of the journal, and the number of the first state of its newest file.
  private func recordBranches(
    in folder: Folder, lines count: Int
  ) async throws -> (states: [Ledger], first: Int) {
    let (one, two, all) = (
      LedgerAction.note("one"), LedgerAction.note("two"), LedgerAction.note("all")
    )
    let before = Array(repeating: all, count: count / 2)
    let after = Array(repeating: all, count: (count + 1) / 2)
    try await recordBranches(
      in: folder, after: one, [before + [one] + after, [one]], [before + [two] + after, [two]],
      every: 500)
    return (states(after: [one] + before + [one] + after + [one]), count + 2)
  }

  /// The file has one checksum, or several.
  ///
  /// The last snapshot is before the last 4 KiB.
  @Test(arguments: [190, 4_090])
  func `J19 no reader takes a state of another branch that ends with the same lines`(count: Int)
    async throws
  {
    let folder = try Folder()
    let (states, first) = try await recordBranches(in: folder, lines: count)
    let missing = JournalFailure.notKept(first: first)
    let reader = try LedgerReader(folder.journal)
    let journal = try LedgerJournal(folder)
    var kept = 0
    // Six states have the note.
    let numbers = (count / 2...count / 2 + 8) + [first, first + 1]
    for number in numbers + stride(from: 0, to: first, by: count / 80) {
      let replays: [() throws(JournalFailure) -> (Ledger, Ledger)] = [
        { () throws(JournalFailure) in (try journal.replay(upTo: number), states[number]) },
        { () throws(JournalFailure) in
          (try reader.replay(Ledger(), upTo: number, reducer: keeping), states[number])
        },
        { () throws(JournalFailure) in
          let state = try journal.replay(Ledger(), before: number, reducer: keeping)
          return (state, states[max(number - 1, 0)])
        },
      ]
      for replay in replays {
        do throws(JournalFailure) {
          let (found, own) = try replay()
          #expect(found == own, "\(number)")
          kept += 1
        } catch {
          #expect(error == missing, "\(number)")
        }
      }
    }
    // The numbers of the newest file. Of several parts, also the equal parts.
    #expect(count == 190 ? 4...10 ~= kept : kept > 40)
    #expect(try journal.replay() == states.last)
    #expect(try journal.verify().firstNumber == first)

    let received = Shared<[Int]>([])
    await #expect(throws: missing) {
      for try await entry in reader.entries(after: 0) {
        if case .action(let action) = entry.content { #expect(action != .note("two")) }
        received.append(entry.number)
      }
    }
    #expect(received.value.count < first - 1)
    let names = Shared<[String?]>([])
    try JournalInspector(folder.journal).read({ names.append($1?.name) }, { _ in })
    #expect(names.value == [nil, "journal"])
  }

  @Test(arguments: [JournalHistory.last(commits: 1), .latestState])
  func `J19 no policy deletes a file of another branch that ends with the same lines`(
    history: JournalHistory
  ) async throws {
    let folder = try Folder()
    _ = try await recordBranches(in: folder, lines: 190)
    let foreign = try Data(contentsOf: folder.file("journal.segments/000001-0.journal"))
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one], [one], [one]], keeping: history)
    let kept = folder.file("journal.segments/000001-0.journal")
    #expect((try? Data(contentsOf: kept)) == foreign)
  }

  /// The headers of earlier versions of the library have no checksums of parts.
  @Test func `J19 a file without checksums of the parts of its closed file is readable`()
    async throws
  {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one, one], [one]])
    let states = try states(folder)
    var lines = try folder.lines()
    let former = lines[0].dropFirst(bodyOffset)
    let parts = try #require(former.firstRange(of: ",\"parts\":\""))
    lines[0] = String(checkedLine(former[..<parts.lowerBound] + "}}").dropLast())
    try folder.write(Data(lines.map { $0 + "\n" }.joined().utf8), to: "journal")
    #expect(try self.states(folder) == states)
    try await record(folder, [[one], [one]], keeping: .last(commits: 1))
    #expect(folder.segments == ["000002-2.journal"])
  }

  @Test func `J7 a header with another count of parts is damaged`() async throws {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    try await record(folder, [[one, one], [one]])
    let lines = try folder.lines()
    let header = String(lines[0].dropFirst(bodyOffset))
    for digits in ["", "0", "00000000"] {
      let forged = header.replacing("\"}}", with: digits + "\"}}")
      let first = digits.isEmpty ? header.replacing("\"parts\":\"", with: "\"parts\":\"0") : forged
      let text = checkedLine(first) + lines.dropFirst().map { $0 + "\n" }.joined()
      try folder.write(Data(text.utf8), to: "journal")
      #expect(throws: JournalFailure.damaged(atByte: 0)) { try LedgerJournal(folder) }
    }
  }

  @Test func `J19 a damaged line makes no closed file another file`() async throws {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    let actions = Array(repeating: one, count: 3_000)
    try await record(folder, [actions, [one]], every: 100)
    let states = states(after: actions + [one])
    let name = "journal.segments/000001-0.journal"
    var bytes = try Data(contentsOf: folder.file(name))
    bytes[bytes.count / 2] ^= 1
    try folder.write(bytes, to: name)
    let journal = try LedgerJournal(folder)
    var damaged = 0
    for number in stride(from: 0, through: 3_001, by: 17) {
      do throws(JournalFailure) {
        #expect(try journal.replay(upTo: number) == states[number])
      } catch {
        if case .damaged = error { damaged += 1 } else { Issue.record(error) }
      }
    }
    #expect(1...30 ~= damaged)
    #expect(throws: JournalFailure.self) { try journal.verify() }
  }

  /// A power loss has lost the first state, which no later line needs.
  @Test func `J19 a policy deletes a closed file whose first state was lost before`() async throws {
    let folder = try Folder()
    let one = LedgerAction.pay("one", 1)
    do {
      let journal = try LedgerJournal(folder, every: 2)
      let store = Store(Ledger(notes: [String(repeating: "x", count: 2_000)]), reducer: keeping)
      let recording = journal.record(store)
      for _ in 1...3 { store.send(one) }
      withExtendedLifetime(recording) {}
    }
    var bytes = try folder.bytes()
    let start = try #require(bytes.firstRange(of: Data(#""start""#.utf8)))
    let crc = bytes[..<start.lowerBound].lastRange(of: Data("{\"crc\"".utf8))!.lowerBound
    bytes.replaceSubrange(crc..<(crc + 30), with: Data(count: 30))
    try folder.write(bytes, to: "journal")
    try await record(folder, [[one], [one], [one], [one]], keeping: .last(commits: 1))
    #expect(folder.segments.first != "000001-0.journal")
  }
}

extension Data {
  fileprivate func lastRange(of part: Data) -> Range<Int>? { range(of: part, options: .backwards) }
}
