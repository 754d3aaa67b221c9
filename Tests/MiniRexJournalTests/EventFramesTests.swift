import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private typealias Lines = [String]
private typealias LinesJournal = Journal<Lines, String>

private let appending: Reducer<Lines, String> = { lines, line in
  lines.append(line)
  return .none
}

/// A frame as an `EventSource` parses it.
private struct Frame: Equatable {
  var event = ""
  var id = 0
  var data = ""

  init(_ event: String, _ id: Int, _ data: String) {
    (self.event, self.id, self.data) = (event, id, data)
  }

  init(_ text: String) {
    #expect(text.hasSuffix("\n\n"))
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      let value = parts[1].dropFirst()
      switch parts[0] {
      case "event": event = String(value)
      case "id": id = Int(value) ?? -1
      case "data": data = String(value)
      default: Issue.record("unknown line \(line)")
      }
    }
  }
}

private func take(
  _ count: Int, _ store: Store<Lines, String>, after id: Int?, in journal: LinesJournal
) async throws -> [Frame] {
  var frames: [Frame] = []
  for try await text in store.eventFrames(after: id, in: journal) {
    frames.append(Frame(text))
    if frames.count == count { break }
  }
  return frames
}

@Suite(.light) struct EventFramesTests {
  private let folder: Folder
  private var file: URL { folder.file("lines.journal") }

  init() throws { folder = try Folder() }

  @Test func `frames begin with the state, and continue with each action`() async throws {
    let journal = try LinesJournal(file)
    let store = Store([], reducer: appending)
    let recording = journal.record(store)
    store.send("a")
    store.send("b\n")

    #expect(
      try await take(1, store, after: nil, in: journal) == [Frame("state", 2, #"["a","b\n"]"#)])
    #expect(
      try await take(2, store, after: 0, in: journal)
        == [Frame("action", 1, #""a""#), Frame("action", 2, #""b\n""#)])
    let waiting = Task { try await take(2, store, after: 1, in: journal) }
    store.send("c")
    #expect(
      try await waiting.finished() == [Frame("action", 2, #""b\n""#), Frame("action", 3, #""c""#)])
    // A number of the future belongs to another journal, or a power loss has revoked it.
    #expect(try await take(1, store, after: 9, in: journal).map(\.event) == ["state"])
    withExtendedLifetime(recording) {}
  }

  @Test func `frames continue after a restart, and end with the store`() async throws {
    do {
      let journal = try LinesJournal(file)
      let store = Store([], reducer: appending)
      let recording = journal.record(store)
      for line in ["a", "b"] { store.send(line) }
      withExtendedLifetime(recording) {}
    }
    let journal = try LinesJournal(file)
    var store: Store? = Store(try journal.replay([], reducer: appending), reducer: appending)
    let recording = journal.record(store!)
    store?.send("c")
    #expect(
      try await take(2, store!, after: 1, in: journal)
        == [Frame("action", 2, #""b""#), Frame("action", 3, #""c""#)])
    #expect(
      try await take(1, store!, after: nil, in: journal) == [
        Frame("state", 3, #"["a","b","c"]"#)
      ])

    let frames = store!.eventFrames(after: 2, in: journal)
    store = nil
    var rest: [Frame] = []
    for try await text in frames { rest.append(Frame(text)) }
    #expect(rest.isEmpty)
    withExtendedLifetime(recording) {}
  }

  @Test func `a client behind the kept commits begins again with the state`() async throws {
    let journal = try LinesJournal(file, keeping: .latestState)
    let store = Store([], reducer: appending)
    let recording = journal.record(store)
    for line in ["a", "b", "c"] { store.send(line) }
    try await journal.compact()
    store.send("d")

    let frames = try await take(1, store, after: 1, in: journal)

    #expect(frames == [Frame("state", 4, #"["a","b","c","d"]"#)])
    withExtendedLifetime(recording) {}
  }

  @Test func `a tick is a comment after its commits, and the clock does not outlast the store`()
    async throws
  {
    let journal = try LinesJournal(file)
    var store: Store? = Store([], reducer: appending)
    let recording = journal.record(store!)
    let clock = ManualClock()
    store?.send("a")
    let sequence = store!.eventFrames(
      after: 0, in: journal, keepAlive: .seconds(15), clock: clock)
    var frames = sequence.makeAsyncIterator()

    #expect(try await frames.next() == "event: action\nid: 1\ndata: \"a\"\n\n")
    store?.send("b")
    await clock.advance(by: .seconds(15), sleepers: 1)
    // The tick has replaced the wake-up of the commit.
    #expect(try await frames.next() == "event: action\nid: 2\ndata: \"b\"\n\n")
    #expect(try await frames.next() == ": keep-alive\n\n")
    await clock.advance(by: .seconds(14), sleepers: 1)
    store?.send("c")
    #expect(try await frames.next() == "event: action\nid: 3\ndata: \"c\"\n\n")
    store = nil
    #expect(try await frames.next() == nil)
    withExtendedLifetime(recording) {}
  }

  @Test func `frames of a store that the journal does not record throw`() async throws {
    let journal = try LinesJournal(file)
    let store = Store([], reducer: appending)
    await #expect(throws: JournalFailure.notRecording) {
      try await take(1, store, after: nil, in: journal)
    }
  }

  @Test func `clients that reconnect receive each commit once, without a gap`() async throws {
    let journal = try LinesJournal(file, sync: .onFlush)
    let store = Store([], reducer: appending)
    let recording = journal.record(store)
    let count = scaled(200)
    let sending = Task.detached {
      for number in 1...count {
        store.send("\(number)")
        if number.isMultiple(of: 10) { await Task.yield() }
      }
    }

    var last = 0
    for reconnect in 0..<count where last < count {
      let wanted = min(1 + reconnect % 2, count - last)
      for frame in try await take(wanted, store, after: last, in: journal) {
        guard frame == Frame("action", last + 1, "\"\(last + 1)\"") else {
          Issue.record("\(frame) after \(last)")
          return
        }
        last += 1
      }
    }
    for _ in 0..<count / 2 {
      let id = Int.random(in: 0..<count)
      #expect(try await take(1, store, after: id, in: journal).first?.id == id + 1)
    }

    await sending.finished()
    #expect(last == count && store.state.count == count)
    withExtendedLifetime(recording) {}
  }
}
