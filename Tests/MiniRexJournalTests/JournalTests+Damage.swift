import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  /// Every byte, or fewer where a sanitizer watches.
  private func places(in bytes: Data) -> StrideTo<Int> {
    stride(from: 0, to: bytes.count, by: scale < 1 ? 13 : 1)
  }

  @Test func `S40 a file that is cut off at any byte gives the state of its whole lines`() throws {
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

  @Test func `S40 a recording after a cut goes on without the torn line`() throws {
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

  @Test func `S40 a byte that is flipped anywhere is told, or was not read`() throws {
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
      // Where the line begins that the byte is of.
      let offset = starts.last { $0 <= place } ?? 0
      let failure = JournalFailure.damaged(atByte: offset)

      #expect(throws: failure) { try LedgerJournal(folder).verify() }
      // A newline before the snapshot is a part of both lines.
      if offset == 0 || place >= snapshot - 1 {
        #expect(throws: failure) { try LedgerJournal(folder).replay() }
      } else {
        #expect(try LedgerJournal(folder).replay() == states[8])
      }
    }
  }

  @Test func `S40 lines may be longer than what is read at once`() throws {
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
      for text in texts { store.send(text) }
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
