import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal

private struct Notes: Codable, Sendable, Equatable { var lines: [String] = [] }

private enum NoteAction: Codable, Sendable { case opened(String) }

private struct Wall: Codable, Sendable, Equatable {
  var cards: [String] = []
  var color = "white"
}

private enum WallAction: Codable, Sendable { case created(title: String, by: String) }

private let noting: Reducer<Notes, NoteAction> = { state, action in
  if case .opened(let title) = action { state.lines.append("\(title) by unknown") }
  return .none
}

private let building: Reducer<Wall, WallAction> = { state, action in
  if case .created(let title, let author) = action { state.cards.append("\(title) by \(author)") }
  return .none
}

private let upcasting = JournalUpcasting()
  .action { $0.rename("opened", to: "created") }
  .action {
    $0["created"]?.rename("_0", to: "title")
    $0["created"]?["by"] = "unknown"
  }
  .state {
    $0.rename("lines", to: "cards")
    $0["color"] = "white"
  }

extension JournalTests {
  /// Records two actions of version 1.
  private func recordNotes(_ folder: Folder, snapshotEvery distance: Int = 0) throws {
    let journal = try Journal<Notes, NoteAction>(folder.journal, snapshotEvery: distance)
    let store = Store(try journal.replay(Notes(), reducer: noting), reducer: noting)
    let recording = journal.record(store)
    store.send(.opened("first"))
    store.send(.opened("second"))
    withExtendedLifetime(recording) {}
  }

  private func openWall(_ folder: Folder, _ upcasting: JournalUpcasting = upcasting) throws
    -> Journal<Wall, WallAction>
  {
    try Journal(folder.journal, snapshotEvery: 0, upcasting: upcasting)
  }

  @Test func `J23 upcasters run in order, and new lines have the newest version`() async throws {
    let folder = try Folder()
    try recordNotes(folder)
    let journal = try openWall(folder)
    let store = Store(try journal.replay(Wall(), reducer: building), reducer: building)
    #expect(store.state == Wall(cards: ["first by unknown", "second by unknown"]))
    let recording = journal.record(store)
    store.send(.created(title: "third", by: "ada"))

    #expect(try folder.lines().last?.contains(#""v":3,"action":{"created""#) == true)
    #expect(try journal.replay(Wall(), reducer: building) == store.state)
    for number in 0...3 {
      let wall = try journal.replay(Wall(), upTo: number, reducer: building)
      #expect(wall.cards.count == number)
    }
    try journal.verify(Wall(), reducer: building)
    try await journal.compact()
    #expect(try folder.lines()[1].contains(#""v":2,"snapshot":{"cards""#))
    try journal.verify(Wall(), reducer: building)
    withExtendedLifetime(recording) {}
  }

  @Test func `J23 compact without a recording writes the state in its newest version`() async throws
  {
    let folder = try Folder()
    try recordNotes(folder, snapshotEvery: 2)
    let journal = try openWall(folder)
    try await journal.compact()
    #expect(try folder.lines()[1].contains(#""v":2,"snapshot":{"cards""#))
    #expect(try journal.replay(Wall(), reducer: building).cards.count == 2)
  }

  @Test func `J23 a change that throws makes the line unreadable`() throws {
    struct Secret: Error, CustomStringConvertible { var description: String { "Ada" } }
    let folder = try Folder()
    try recordNotes(folder)
    let journal = try openWall(folder, upcasting.action { _ in throw Secret() })
    let failure = try #require(
      #expect(throws: JournalFailure.self) { try journal.replay(Wall(), reducer: building) })
    guard case .unreadable(number: 1, let text) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(text.contains("Secret") && !text.contains("Ada"))
  }

  @Test func `J24 a line of an unknown version stops the program, which writes nothing`()
    async throws
  {
    let folder = try Folder()
    try recordNotes(folder)
    do {
      let journal = try openWall(folder)
      let store = Store(try journal.replay(Wall(), reducer: building), reducer: building)
      let recording = journal.record(store)
      store.send(.created(title: "third", by: "ada"))
      withExtendedLifetime(recording) {}
    }
    let bytes = try folder.bytes()

    // The state with which the recording began.
    let newer = JournalFailure.newer(number: 2, version: 2)
    let old = try Journal<Notes, NoteAction>(folder.journal)
    #expect(throws: newer) { try old.replay(Notes(), reducer: noting) }
    #expect(throws: newer) { try old.verify(Notes(), reducer: noting) }
    await #expect(throws: newer) { try await old.compact() }
    let recording = old.record(Store(Notes(), reducer: noting))
    await #expect(throws: newer) { try await old.flush() }
    #expect(!recording.isSubscribed)
    #expect(try folder.bytes() == bytes && folder.names == ["journal"])
  }

  @Test func `J25 a snapshot that does not upcast is skipped, and a first state is not`() throws {
    struct Refused: Error {}
    let folder = try Folder()
    try recordNotes(folder, snapshotEvery: 2)
    #expect(try folder.lines().last?.contains(#""snapshot""#) == true)
    let picky = JournalUpcasting().action { _ in }.action { _ in }.action {
      $0.rename("opened", to: "created")
      $0["created"]?.rename("_0", to: "title")
      $0["created"]?["by"] = "unknown"
    }
    let full = picky.state {
      if $0["lines"] != [] { throw Refused() }
      $0 = ["cards": [], "color": "white"]
    }
    let journal = try openWall(folder, full)
    #expect(try journal.replay(Wall(), reducer: building).cards.count == 2)
    #expect(try journal.verify(Wall(), reducer: building).statesCompared == 0)

    let refusing: @Sendable (inout JournalJSON) throws -> Void = { _ in throw Refused() }
    withExtendedLifetime(journal) {}
    let other = try Folder()
    try recordNotes(other)
    let failure = #expect(throws: JournalFailure.self) {
      try openWall(other, picky.state(refusing)).replay(Wall(), reducer: building)
    }
    guard case .unreadable(number: 0, _)? = failure else {
      Issue.record("\(failure as Any)")
      return
    }
  }

  @Test(arguments: [
    #"{"a":1e400,"b":[0.10,-0,true,false,null],"c":{}}"#, #""\"\\\n\t\u0001ä🦖""#,
    "123456789012345678901234567890", "[]", #"[[],{"":""}]"#,
  ])
  func `J23 JSON keeps its text`(text: String) throws {
    #expect(
      String(decoding: try JSONParser.value(of: Array(text.utf8)[...]).text, as: UTF8.self) == text)
  }

  @Test(arguments: ["", "{", "[1", "{\"a\"}", "\"\\x\"", "tru", "1 2", "{\"a\":1,}", "\"\\u12\""])
  func `J23 text that is not JSON is refused`(text: String) {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.value(of: Array(text.utf8)[...]) }
  }

  @Test func `J23 JSON members are renamed, assigned, and removed`() {
    var value: JournalJSON = ["a": 1, "b": [true, 0.5, "x"]]
    value.rename("a", to: "c")
    value.rename("missing", to: "d")
    value["b"]?[1] = nil
    value["c"] = "text"
    #expect(value == ["c": "text", "b": [true, "x"]])
    value["c"]?["member"] = 1
    #expect(value["c"]?["member"] == nil && value["b"]?[7] == nil)
    #expect(throws: JSONParser.Failure.self) {
      try JSONParser.value(of: Array(String(repeating: "[", count: 100_000).utf8)[...])
    }
    #expect((try? JSONParser.value(of: Array(#""\ud83e\udd96""#.utf8)[...])) == "🦖")
  }
}
