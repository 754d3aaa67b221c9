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

  /// Returns when the issue outlives the machine's loss of power.
  func open(_ title: String) async throws {
    store.send(.opened(title))
    try await journal.flush()
  }
}

struct Page: Codable, Equatable, Sendable {
  var lines: [String] = []
  var colour = "white"  // was not there before

  init() {}

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    lines = try members.decode([String].self, forKey: .lines)
    colour = try members.decodeIfPresent(String.self, forKey: .colour) ?? "white"
  }
}

/// What the page and the comments of documentation show.
@Suite(.timeLimit(.minutes(20))) struct JournalSamples {
  let paper = Shared<[String]>([])

  func print(_ line: Any) { paper.append("\(line)") }

  @Test func `a store goes on where it was, and can be looked at as it was before`() throws {
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

  @Test func `a server has its state again`() async throws {
    let folder = try Folder()
    for title in ["first", "second"] {
      try await KeptBoard(folder.file("journal")).open(title)
    }
    #expect(try KeptBoard(folder.file("journal")).store.issues == ["first", "second"])
  }

  @Test func `what fails is told, and recorded again`() throws {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(folder.file("journal"))
    let store = Store(Board(), reducer: reducer)
    let print = { @Sendable [paper] (line: String) in paper.append(line) }
    let watching = journal.failure.subscribe { failure in
      if let failure { print("Nothing is recorded any more. \(failure)") }
    }
    let recording = journal.record(store)
    store.send(.opened("first"))

    #expect(paper.value == [])
    withExtendedLifetime((watching, recording)) {}
  }

  @Test func `the next version reads what this one has written`() throws {
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
    #expect(page.colour == "white")
  }

  @Test func `a new file begins with the state`() throws {
    let folder = try Folder()
    let store = Store(Board(issues: ["first"]), reducer: reducer)
    let file = folder.file("another")
    let next = try Journal<Board, BoardAction>(file)
    let recording = next.record(store)

    #expect(try next.replay(Board(), reducer: reducer) == store.state)
    withExtendedLifetime(recording) {}
  }
}
