import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

struct Board: Codable, Equatable, Sendable {
  var issues: [String] = []
}

enum BoardAction: Codable, Sendable {
  case started
  case opened(String)
}

let reducer: Reducer<Board, BoardAction> = { state, action in
  switch action {
  case .started: break
  case .opened(let title): state.issues.append(title)
  }
  return .none
}

final class KeptBoard: Sendable {
  let journal: Journal<Board, BoardAction>
  let store: Store<Board, BoardAction>
  private let recording: Subscription

  init(_ file: URL) throws {
    journal = try Journal(file)
    store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
    recording = journal.record(store)
    store.send(.started)
  }

  /// Returns when the issue is on the disk.
  func open(_ title: String) async throws {
    try await store.send(.opened(title), in: journal)
  }
}

struct Page: Codable, Equatable, Sendable {
  var lines: [String] = []
  var color = "white"  // new in this version

  init() {}

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    lines = try members.decode([String].self, forKey: .lines)
    color = try members.decodeIfPresent(String.self, forKey: .color) ?? "white"
  }
}

/// The samples of the articles and doc comments.
@Suite(.light) struct JournalSamples {
  let paper = Shared<[String]>([])

  func print(_ line: Any) { paper.append("\(line)") }

  @Test func `a durable send returns a value of its own commit`() async throws {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(folder.journal)
    let board = Store(Board(), reducer: reducer)
    let recording = journal.record(board)
    let title = "first"

    let receipt = try await board.send(.opened(title), in: journal) { $0.issues.count }

    #expect(receipt.value == 1 && journal.syncCount >= 1)
    withExtendedLifetime(recording) {}
  }

  @Test func `a store continues with its last state, and every earlier state can be replayed`()
    throws
  {
    let folder = try Folder()
    let file = folder.file("journal")
    let journal = try Journal<Board, BoardAction>(file)
    let store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
    let recording = journal.record(store)

    store.send(.opened("first"))
    store.send(.opened("second"))
    let before = try journal.replay(Board(), upTo: journal.lastNumber - 1, reducer: reducer)

    #expect(before.issues == ["first"])
    #expect(try journal.replay(Board(), reducer: reducer) == store.state)
    for number in 0...journal.lastNumber {
      print(try journal.replay(Board(), upTo: number, reducer: reducer).issues)
    }
    #expect(paper.value == ["[]", #"["first"]"#, #"["first", "second"]"#])
    try journal.verify(Board(), reducer: reducer)
    withExtendedLifetime(recording) {}
  }

  @Test func `a server restores its state`() async throws {
    let folder = try Folder()
    for title in ["first", "second"] {
      try await KeptBoard(folder.file("journal")).open(title)
    }
    #expect(try KeptBoard(folder.file("journal")).store.issues == ["first", "second"])
  }

  @Test func `a subscriber of the failure is idle during a recording`() throws {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(folder.file("journal"))
    let store = Store(Board(), reducer: reducer)
    let print = { @Sendable [paper] (line: String) in paper.append(line) }
    let watching = journal.failure.subscribe { failure in
      if let failure { print("The recording has ended. \(failure)") }
    }
    let recording = journal.record(store)
    store.send(.opened("first"))

    #expect(paper.value == [])
    withExtendedLifetime((watching, recording)) {}
  }

  @Test func `the next version reads the lines of this version`() throws {
    struct OldPage: Codable, Sendable { var lines: [String] = [] }
    let folder = try Folder()
    let file = folder.file("journal")
    do {
      let old = Store(OldPage()) { (state: inout OldPage, line: String) in
        state.lines.append(line)
        return .none
      }
      let recording = try Journal<OldPage, String>(file).record(old)
      old.send("first")
      withExtendedLifetime(recording) {}
    }

    let page = try Journal<Page, String>(file).replay(Page()) { state, line in
      state.lines.append(line)
      return .none
    }

    #expect(page.lines == ["first"])
    #expect(page.color == "white")
  }

  @Test func `a new file begins with the state of the store`() throws {
    let folder = try Folder()
    let store = Store(Board(issues: ["first"]), reducer: reducer)
    let file = folder.file("another")
    let next = try Journal<Board, BoardAction>(file)
    let recording = next.record(store)

    #expect(try next.replay(Board(), reducer: reducer) == store.state)
    withExtendedLifetime(recording) {}
  }

  private func recordIssues(_ titles: [String], in file: URL) throws {
    let journal = try Journal<Board, BoardAction>(file)
    let store = Store(try journal.replay(Board(), reducer: reducer), reducer: reducer)
    let recording = journal.record(store)
    for title in titles { store.send(.opened(title)) }
    recording.invalidate()
  }

  @Test func `a short file begins with the state of an old file`() async throws {
    let folder = try Folder()
    let (archive, file) = (folder.file("archive"), folder.file("journal"))
    try recordIssues(["first", "second"], in: archive)

    let old = try Journal<Board, BoardAction>(archive)
    let store = Store(try old.replay(Board(), reducer: reducer), reducer: reducer)
    let journal = try Journal<Board, BoardAction>(file)
    let recording = journal.record(store)
    try await journal.flush()

    #expect(journal.lastNumber == 0)
    #expect(try journal.replay(Board(), reducer: reducer) == store.state)
    #expect(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count == 2)
    withExtendedLifetime(recording) {}
  }

  func backUp(_ journal: Journal<Board, BoardAction>, _ file: URL, to copy: URL) async throws {
    try await journal.flush()
    try FileManager.default.copyItem(at: file, to: copy)
  }

  @Test func `a copy made during a recording has every flushed commit`() async throws {
    let folder = try Folder()
    let file = folder.file("journal")
    let journal = try Journal<Board, BoardAction>(file, snapshotEvery: 50)
    let store = Store(Board(), reducer: reducer)
    let recording = journal.record(store)
    let isOver = Shared(false)
    let sending = Task.detached {
      await onQueue {
        while !isOver.value, store.issues.count < 2_000 { store.send(.opened("issue")) }
      }
    }
    for round in 1...20 {
      let copy = folder.file("copy \(round)")
      let number = journal.lastNumber
      try await backUp(journal, file, to: copy)
      let backup = try Journal<Board, BoardAction>(copy)
      try backup.verify(Board(), reducer: reducer)
      #expect(backup.lastNumber >= number)
    }
    isOver.value = true
    await sending.value
    withExtendedLifetime(recording) {}
  }

  @Test func `a damaged end is removed at its offset`() throws {
    let folder = try Folder()
    let file = folder.file("journal")
    try recordIssues(["first", "second"], in: file)
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count - 10] = 0
    try folder.write(bytes, to: "journal")
    let failure = #expect(throws: JournalFailure.self) { try Journal<Board, BoardAction>(file) }
    guard case .damaged(let offset)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }

    let end = try FileHandle(forWritingTo: file)
    try end.truncate(atOffset: UInt64(offset))
    try end.close()

    #expect(
      try Journal<Board, BoardAction>(file).replay(Board(), reducer: reducer).issues == ["first"])
  }

  @Test func `the line of an action has 39 bytes beside its number and JSON`() throws {
    let folder = try Folder()
    try recordIssues(["first"], in: folder.file("journal"))
    // The first line of each second also has the second.
    let line = try folder.lines()[2].replacing(/"at":[0-9]+,/, with: "")
    let json = #"{"opened":{"_0":"first"}}"#
    #expect(line.hasSuffix(#"1,"action":\#(json)}"#))
    #expect(line.utf8.count + 1 == 39 + 1 + json.utf8.count)
  }
}
