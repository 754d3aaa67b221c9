import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

/// A copy of the board that follows the journal.
private struct Projection {
  var number = 0
  var titles: [String] = []

  mutating func apply(_ entry: JournalEntry<Board, BoardAction>) {
    if case .action(.opened(let title)) = entry.content { titles.append(title) }
    number = entry.number
  }
}

extension JournalSamples {
  private func record(_ titles: [String], in file: URL) throws {
    let journal = try Journal<Board, BoardAction>(file)
    let store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
    let recording = journal.record(store)
    for title in titles { store.send(.opened(title)) }
    recording.invalidate()
  }

  @Test func `a date names a commit`() throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try record(["first", "second"], in: file)
    let journal = try Journal<Board, BoardAction>(file)
    #expect(throws: JournalFailure.notKept(first: 0)) {
      let yesterday = try journal.number(at: .now - 86_400)
      let board = try journal.replay(Board(), upTo: yesterday, reducer: reducer)
      print(board.issues)
    }
    #expect(try journal.number(at: .now + 1) == 2)
  }

  @Test func `a change of a type is a version`() throws {
    let folder = try Folder()
    let file = folder.file("journal")
    let upcasting = JournalUpcasting()
      .action { $0.rename("opened", to: "created") }
      .action { $0["created"]?["by"] = "unknown" }
      .state { $0["color"] = "white" }
    let journal = try Journal<Board, BoardAction>(file, upcasting: upcasting)
    let store = Store(Board(), reducer: reducer)
    let recording = journal.record(store)
    store.send(.opened("first"))

    #expect(try journal.replay(Board(), reducer: reducer) == store.state)
    #expect(try String(contentsOf: file, encoding: .utf8).contains(#""v":3,"action""#))
    withExtendedLifetime(recording) {}
  }

  @Test func `a journal keeps the last commits`() async throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try record(["first", "second"], in: file)
    let journal = try Journal<Board, BoardAction>(file, keeping: .last(commits: 100_000))
    try await journal.compact()

    #expect(try journal.replay(Board(), reducer: reducer).issues == ["first", "second"])
    #expect(try journal.replay(Board(), upTo: 1, reducer: reducer).issues == ["first"])
  }

  @Test func `a projection follows a journal`() async throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try record(["first", "second"], in: file)
    var projection = Projection()
    let reader = try JournalReader<Board, BoardAction>(file)
    for try await entry in reader.entries(after: projection.number) {
      projection.apply(entry)
      if projection.number == 2 { break }
    }
    #expect(projection.titles == ["first", "second"])
  }

  private func follow(_ file: URL, _ projection: inout Projection) async throws {
    let reader = try JournalReader<Board, BoardAction>(file)
    for try await entry in reader.entries(after: projection.number) {
      projection.apply(entry)
    }
  }

  func backUp(_ file: URL, to folder: URL) throws {
    try JournalReader<Board, BoardAction>(file).backup(to: folder)
  }

  @Test func `a backup has the file's name in another folder`() throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try record(["first"], in: file)
    try backUp(file, to: folder.file("backup"))

    let copy = folder.file("backup").appending(path: "journal")
    let backup = try Journal<Board, BoardAction>(copy)
    try backup.verify(Board(), reducer: reducer)
    #expect(backup.lastNumber == 1)
  }

  @Test func `a canceled follower ends`() async throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try record(["first"], in: file)
    let following = Task {
      var projection = Projection()
      try await follow(file, &projection)
      return projection.titles.count
    }
    following.cancel()
    #expect(try await following.value <= 1)
  }
}
