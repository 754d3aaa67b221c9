import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Closed files of another journal, or of another branch, with the names of the journal's own files.
extension JournalTests {
  /// Continues the journal: `count` actions before each compaction, and one action after the last.
  ///
  /// - Parameter name: The note in a new journal's first state, so that no two journals have equal states.
  @discardableResult
  private func record(
    _ folder: Folder, _ name: String, each count: Int, compactions: Int = 3,
    keeping history: JournalHistory = .everything
  ) async throws -> Ledger {
    let journal = try LedgerJournal(folder, keeping: history)
    let initial = Ledger(notes: [name])
    let state = try journal.replay(initial, reducer: keeping)
    let store = Store(state, reducer: keeping)
    let recording = journal.record(store)
    for _ in 0..<compactions {
      for _ in 0..<count { store.send(.pay(name, 1)) }
      try await journal.compact()
    }
    store.send(.pay(name, 1))
    try await journal.flush()
    withExtendedLifetime(recording) {}
    return store.state
  }

  /// The contents of all closed files, the files of other branches included.
  private func closed(_ folder: Folder) throws -> Set<Data> {
    let top = folder.file("journal.segments")
    let all = FileManager.default.enumerator(at: top, includingPropertiesForKeys: nil)
    var contents: Set<Data> = []
    while let file = all?.nextObject() as? URL {
      if file.pathExtension == "journal" { contents.insert(try Data(contentsOf: file)) }
    }
    return contents
  }

  /// Expects that the journal at the path has no state before a number.
  private func expectNothing(
    in folder: Folder, before first: Int, _ state: Ledger, _ comment: Comment
  ) async throws {
    let missing = JournalFailure.notKept(first: first)
    do {
      let journal = try LedgerJournal(folder)
      let status = journal.status.current()
      #expect(status?.firstNumber == first && status?.segments == 0, comment)
      #expect(status?.segmentBytes == 0, comment)
      #expect(try journal.replay() == state, comment)
      for number in 0..<first {
        #expect(throws: missing, comment) { try journal.replay(upTo: number) }
      }
      #expect(try journal.replay(upTo: first).count == first, comment)
      #expect(throws: missing, comment) {
        try journal.number(at: Date(timeIntervalSince1970: 999))
      }
      #expect(try journal.verify().firstNumber == first, comment)
    }
    let reader = try LedgerReader(folder.journal)
    #expect(throws: missing, comment) {
      try reader.replay(Ledger(), upTo: 0, reducer: keeping)
    }
    await #expect(throws: missing, comment) {
      for try await _ in reader.entries(after: 0) {}
    }
    let names = Shared<[String]>([])
    try JournalInspector(folder.journal).read({ name, _ in names.append(name) }, { _ in })
    #expect(names.value == ["journal"], comment)
    let copy = try Folder()
    try reader.backup(to: copy.url)
    #expect(copy.names == ["journal"], comment)
  }

  private static let moves = [JournalHistory.everything, .last(commits: 1), .latestState].flatMap {
    history in [1, 10, 20].map { (history, $0) }
  }

  /// The closed files of the path end at number 30.
  ///
  /// The moved journal begins at 3, 30, or 60.
  @Test(arguments: moves)
  func `J19 a moved journal does not take the closed files of another`(
    history: JournalHistory, count: Int
  ) async throws {
    let (folder, other) = (try Folder(), try Folder())
    let former = try await record(folder, "path", each: 10)
    let state = try await record(other, "moved", each: count)
    let files = try closed(folder)
    try folder.move("journal", to: "former")
    try FileManager.default.moveItem(at: other.journal, to: folder.journal)

    try await expectNothing(in: folder, before: 3 * count, state, "moved")
    let inspecting = try Child("inspect", folder.path("journal"), program: "minirex-journal")
    let lines = await inspecting.output.rest()
    #expect(lines.count { $0.hasPrefix("closed file of another journal or branch: ") } == 3)
    try await record(folder, "moved", each: 2, compactions: 2, keeping: history)
    #expect(try closed(folder).isSuperset(of: files))
    let journal = try LedgerJournal(folder)
    #expect(throws: JournalFailure.self) { try journal.replay(upTo: 3 * count - 1) }
    if history == .everything { #expect(try journal.verify().firstNumber == 3 * count) }

    // The other journal is complete.
    let back = try Folder()
    try FileManager.default.moveItem(at: folder.file("former"), to: back.journal)
    try FileManager.default.moveItem(
      at: folder.file("journal.segments/branch-1"), to: back.file("journal.segments"))
    #expect(try LedgerJournal(back).replay() == former)
    #expect(try LedgerJournal(back).verify().firstNumber == 0)
  }

  @Test func `J19 a folder with the name of a closed file prevents no compaction`() async throws {
    let folder = try Folder()
    try await record(folder, "own", each: 2, compactions: 1)
    let other = folder.file("journal.segments").appendingPathComponent("000007-9.journal")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)

    let state = try await record(folder, "own", each: 2)

    #expect(try LedgerJournal(folder).replay() == state)
    #expect(try LedgerJournal(folder).replay(upTo: 1).count == 1)
    #expect(FileManager.default.fileExists(atPath: other.path))
  }

  @Test func `J19 a journal that was moved away and back does not take the files of its successor`()
    async throws
  {
    let folder = try Folder()
    let state = try await record(folder, "first", each: 1)
    try folder.move("journal", to: "away")
    // Two closed files. Their names precede the name of the first journal's newest file.
    try await record(folder, "second", each: 1, compactions: 2)
    let files = try closed(folder)
    #expect(files.count == 5)
    try folder.move("journal", to: "second")
    try folder.move("away", to: "journal")

    try await expectNothing(in: folder, before: 3, state, "back")
    try await record(folder, "first", each: 1, compactions: 1, keeping: .last(commits: 1))
    #expect(try closed(folder).isSuperset(of: files))
  }

  /// The copy and the original have equal first lines, and then the same names and numbers.
  @Test(arguments: [1, 2])
  func `J19 a restored original does not take the files of its copy`(compactions: Int) async throws
  {
    let folder = try Folder()
    try await record(folder, "shared", each: 1)
    let copy = try folder.bytes()
    let state = try await record(folder, "original", each: 1, compactions: compactions)
    try folder.move("journal", to: "away")
    try folder.write(copy, to: "journal")
    try await record(folder, "copy", each: 1, compactions: 1)
    try folder.move("journal", to: "copy")
    try folder.move("away", to: "journal")
    let files = try closed(folder)

    try await expectNothing(in: folder, before: 4 + compactions, state, "\(compactions)")
    try await record(folder, "original", each: 1, compactions: 1, keeping: .latestState)
    #expect(try closed(folder).isSuperset(of: files))
  }

  @Test func `J19 two swapped journals keep their closed files`() async throws {
    let folders = [try Folder(), try Folder()]
    var states = [
      try await record(folders[0], "one", each: 2), try await record(folders[1], "two", each: 2),
    ]
    let files = try folders.map { try closed($0) }
    func swap() throws {
      try folders[0].move("journal", to: "swapped")
      try FileManager.default.moveItem(at: folders[1].journal, to: folders[0].journal)
      try FileManager.default.moveItem(at: folders[0].file("swapped"), to: folders[1].journal)
    }
    try swap()
    for index in 0...1 {
      try await expectNothing(in: folders[index], before: 6, states[1 - index], "\(index)")
    }
    // Without a new line, nothing is moved.
    try swap()
    for index in 0...1 {
      #expect(try LedgerJournal(folders[index]).replay() == states[index])
      #expect(try LedgerJournal(folders[index]).verify().firstNumber == 0)
    }
    try swap()
    for index in 0...1 {
      states[1 - index] = try await record(
        folders[index], "swapped", each: 1, compactions: 1, keeping: .last(commits: 1))
      #expect(try closed(folders[index]).isSuperset(of: files[index]))
    }
    try swap()
    for index in 0...1 {
      try await expectNothing(
        in: folders[index], before: states[index].count - 1, states[index], "back \(index)")
    }
  }

  @Test func `J2 the file of version 1 is recognized after the files behind it have expired`()
    async throws
  {
    let (folder, other) = (try Folder(), try Folder())
    let states = try writeVersionOne(folder)
    try await record(folder, "first", each: 1, keeping: .last(commits: 1))
    #expect(folder.segments == ["000000-0.journal", "000003-7.journal"])
    try await record(folder, "first", each: 1, compactions: 2, keeping: .latestState)
    #expect(folder.segments == ["000000-0.journal"])
    do {
      let journal = try LedgerJournal(folder)
      for number in 0...5 { #expect(try journal.replay(upTo: number) == states[number]) }
      #expect(throws: JournalFailure.self) { try journal.replay(upTo: 6) }
      #expect(try journal.verify().firstNumber == 0)
    }

    // Another file of version 1 with the same name and numbers.
    try writeVersionOne(other, from: Ledger(notes: ["other"]))
    let place = folder.file("journal.segments/000000-0.journal")
    let bytes = try Data(contentsOf: place)
    try FileManager.default.removeItem(at: place)
    try FileManager.default.moveItem(at: other.journal, to: place)
    #expect(throws: JournalFailure.self) { try LedgerJournal(folder).replay(upTo: 5) }
    let foreign = try Data(contentsOf: place)
    try await record(folder, "first", each: 1, compactions: 1, keeping: .last(commits: 1))
    #expect(try closed(folder).contains(foreign))
    #expect(folder.segments.first != "000000-0.journal")
    try bytes.write(to: place)
    #expect(try LedgerJournal(folder).replay(upTo: 5) == states[5])
  }
}
