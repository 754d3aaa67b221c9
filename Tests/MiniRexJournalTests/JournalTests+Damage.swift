import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

extension JournalTests {
  /// The bytes around each newline, and a part of the others.
  ///
  /// `Scripts/soak` takes every byte.
  private func places(in bytes: Data) -> [Int] {
    let step = scale < 1 ? 13 : scale > 1 ? 1 : 3
    return bytes.indices.filter { place in
      place.isMultiple(of: step) || bytes[max(0, place - 1)...].prefix(3).contains(newline)
    }
  }

  @Test func `S40 a file cut at any byte restores the state of its complete lines`() throws {
    let folder = try Folder()
    let states = try folder.record(8, every: 3)
    let bytes = try folder.bytes()

    for place in places(in: bytes) {
      let part = bytes.prefix(place)
      try folder.write(part, to: "journal")

      let journal = try LedgerJournal(folder)
      let state = try journal.replay()

      let whole = wholeLines(part).filter { $0.contains(#","number":"#) }
      let commits = whole.count { $0.contains(#","action":"#) }
      #expect(journal.lastNumber == commits)
      #expect(state == (whole.isEmpty ? Ledger() : states[commits]))
      try journal.verify()
    }
  }

  @Test func `S40 a recording removes the torn line first`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let bytes = try folder.bytes()
    for count in [1, 20, bytes.count - 1, bytes.count - 60] {
      try folder.write(bytes.prefix(count), to: "journal")

      let states = try folder.record(2)

      let journal = try LedgerJournal(folder)
      #expect(try journal.replay() == states[2])
      try journal.verify()
    }
  }

  @Test func `S40 a flipped bit is reported unless replay does not read it`() throws {
    let folder = try Folder()
    let states = try folder.record(8, every: 3)
    let bytes = try folder.bytes()
    let starts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    let snapshot = starts[starts.count - 4]
    #expect(String(decoding: bytes[snapshot...], as: UTF8.self).contains("\"snapshot\":"))

    for place in places(in: bytes) {
      var damaged = bytes
      damaged[place] ^= 1 << (place % 8)
      try folder.write(damaged, to: "journal")
      // The offset of the line with this byte.
      let offset = starts.last { $0 <= place } ?? 0
      let failure = JournalFailure.damaged(atByte: offset)

      #expect(throws: failure) { try LedgerJournal(folder).verify() }
      // The newline before the snapshot belongs to both lines.
      if offset == 0 || place >= snapshot - 1 {
        #expect(throws: failure) { try LedgerJournal(folder).replay() }
      } else {
        #expect(try LedgerJournal(folder).replay() == states[8])
      }
    }
  }

  /// Appends a part of a line, like a kill in the middle of a write.
  private func tear(_ folder: Folder, with byte: Character, count: Int) throws {
    var bytes = try folder.bytes()
    bytes += Data(#"{"crc":"01234567","number":4,"action":{"note":{"_0":""#.utf8)
    bytes += Data(repeating: byte.asciiValue ?? 0, count: count)
    try folder.write(bytes, to: "journal")
  }

  @Test(arguments: ["x", "}", "{", "\""] as [Character])
  func `J3 a torn line of megabytes opens`(byte: Character) throws {
    let folder = try Folder()
    let states = try folder.record(3)
    try tear(folder, with: byte, count: 2_000_000)

    #expect(try LedgerJournal(folder).lastNumber == 3)
    #expect(try folder.record(1)[0] == states[3])

    #expect(try folder.bytes().count < 10_000)
    try LedgerJournal(folder).verify()
  }

  #if os(Linux)
  /// The bytes that this thread has read from files, pipes, and sockets.
  private func bytesRead() throws -> Int {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    return try #require(
      text.split(whereSeparator: \.isNewline).first?.split(separator: " ").last.flatMap {
        Int($0)
      })
  }

  @Test func `J3 opening reads a torn line of any length at most twice`() throws {
    let folder = try Folder()
    let states = try folder.record(3)
    let header = try folder.bytes()
    for count in [1_000_000, 2_000_000, 8_000_000] {
      try folder.write(header, to: "journal")
      try tear(folder, with: "}", count: count)
      let before = try bytesRead()
      #expect(try LedgerJournal(folder).replay() == states[3])
      #expect(try bytesRead() - before < 2 * count + 200_000)
    }
  }

  @Test func `J3 opening reads the newest file only, even beside many closed files`() async throws {
    let folder = try Folder()
    var reads: [Int] = []
    for closed in [2, 200] {
      let journal = try LedgerJournal(folder)
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      while journal.status.current()?.segments != closed {
        for _ in 0..<100 { store.send(action(store.state.count + 1)) }
        try await journal.compact()
      }
      withExtendedLifetime(recording) {}
      let copy = folder.file("copy \(closed)")
      try FileManager.default.copyItem(at: folder.journal, to: copy)
      try FileManager.default.copyItem(
        atPath: folder.path("journal.segments"), toPath: "\(copy.path).segments")
      let before = try bytesRead()
      let opened = try Journal<Ledger, LedgerAction>(copy)
      reads.append(try bytesRead() - before)
      #expect(opened.status.current()?.segments == closed)
    }
    // The numbers and the state have more digits.
    #expect(reads[1] - reads[0] < 1_000, "\(reads)")
  }
  #endif

  @Test(arguments: ["x", "}", "{", "\"", "\\"] as [Character])
  func `J3 the search for the end of a torn line reads each byte once`(byte: Character) {
    for count in [1_000, 2_000, 100_000] {
      let line = Array(#"{"crc":"01234567","number":4,"action":{"note":{"_0":""#.utf8)
      let looks = Shared(0)
      let tail = sequence(state: (line + Array(repeating: byte.asciiValue ?? 0, count: count))[...])
      {
        looks.increment()
        return $0.popFirst()
      }
      #expect(lengthOfObject(tail) == nil)
      #expect(looks.value <= line.count + count + 1)
    }
  }

  @Test func `S40 the length of an object ends at its last brace`() {
    for text in [#"{}"#, #"{"a":"}"}"#, #"{"a":"\"}"}"#, #"{"a":"\\"}"#, #"{"a":{"b":[{}]}}"#] {
      for rest in ["", "x", "}", "{"] {
        #expect(lengthOfObject((text + rest).utf8) == text.utf8.count, "\(text)")
      }
      #expect(lengthOfObject(text.utf8.dropLast()) == nil, "\(text)")
    }
    for text in ["", "}", "}{}", "x"] { #expect(lengthOfObject(text.utf8) == nil, "\(text)") }
  }

  @Test func `S40 a line can be longer than a block`() async throws {
    let folder = try Folder()
    let reducer: Reducer<[String], String> = { state, action in
      if state.count == 2 { state.removeFirst() }
      state.append(action)
      return .none
    }
    let texts = [65_536, 70_000, 65_400, 300_000, 1, 131_072].map {
      String(repeating: "x", count: $0)
    }
    do {
      let journal = try Journal<[String], String>(folder.journal, snapshotEvery: 3)
      let store = Store([], reducer: reducer)
      let recording = journal.record(store)
      for text in texts {
        store.send(text)
        let number = journal.lastNumber
        // Another thread encodes these states.
        if number % 3 == 0 {
          await until { (try? folder.lines().last?.contains(#""snapshot""#)) == true }
        }
      }
      #expect(try journal.replay([], reducer: reducer) == Array(texts.suffix(2)))
      withExtendedLifetime(recording) {}
    }
    let bytes = try folder.bytes()

    let journal = try Journal<[String], String>(folder.journal)
    for number in 1...texts.count {
      let state = try journal.replay([], upTo: number, reducer: reducer)
      #expect(state == Array(texts.prefix(number).suffix(2)))
    }
    try journal.verify([], reducer: reducer)
    try folder.write(bytes.dropLast(100_000), to: "torn")
    let torn = try Journal<[String], String>(folder.file("torn"))
    #expect(torn.lastNumber == 6)
    #expect(try torn.replay([], reducer: reducer) == Array(texts.suffix(2)))
  }
}

private func wholeLines(_ bytes: Data) -> [String] {
  let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex
  return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
}
