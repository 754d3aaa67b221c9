import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Returns a line with its checksum.
func checkedLine(_ body: String) -> String {
  "{\"crc\":\"\(JournalInspector.checksum(of: Array(body.utf8)))\",\(body)\n"
}

extension JournalTests {
  /// Writes a file of version 1 with 5 actions, and returns their states.
  @discardableResult
  func writeVersionOne(_ folder: Folder, from initial: Ledger = Ledger()) throws -> [Ledger] {
    func json(_ value: some Encodable) throws -> String {
      String(decoding: try makeEncoder().encode(value), as: UTF8.self)
    }
    var states = [initial]
    var text = checkedLine(#""journal":"MiniRex","version":1}"#)
    text += checkedLine(#""number":0,"start":\#(try json(initial))}"#)
    for number in 1...5 {
      var state = states[number - 1]
      _ = keeping(&state, action(number))
      states.append(state)
      text += checkedLine(#""number":\#(number),"action":\#(try json(action(number)))}"#)
    }
    text += checkedLine(#""number":5,"snapshot":\#(try json(states[5]))}"#)
    try folder.write(text, to: "journal")
    return states
  }

  @Test(arguments: [JournalHistory.everything, .latestState])
  func `J2 a file of version 1 is continued and never changed`(history: JournalHistory) async throws
  {
    let folder = try Folder()
    let states = try writeVersionOne(folder)
    let bytes = try folder.bytes()
    do {
      let journal = try LedgerJournal(folder, keeping: history)
      #expect(try journal.replay() == states[5])
      #expect(try journal.verify().statesCompared == 1)
      #expect(try folder.bytes() == bytes)

      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(6))
      store.send(action(7))
      try await journal.compact()
      withExtendedLifetime(recording) {}
    }
    let old = try Data(contentsOf: folder.file("journal.segments/000000-0.journal"))
    #expect(old == bytes)
    let journal = try LedgerJournal(folder, keeping: history)
    #expect(journal.lastNumber == 7)
    for number in 0...5 { #expect(try journal.replay(upTo: number) == states[number]) }
    #expect(try journal.verify().firstNumber == 0)
    #expect(try folder.lines()[0].contains(#""version":2,"#))
  }

  @Test func `J2 a file of version 1 that was restored is continued again`() async throws {
    let folder = try Folder()
    let states = try writeVersionOne(folder)
    let bytes = try folder.bytes()
    for history in [JournalHistory.everything, .latestState] {
      try folder.write(bytes, to: "journal")
      let journal = try LedgerJournal(folder, keeping: history)
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(6))
      try await journal.flush()
      try await journal.compact()
      #expect(journal.failure.current() == .some(nil))
      #expect(try journal.replay(upTo: 5) == states[5])
      #expect(try journal.replay() == store.state)
      withExtendedLifetime(recording) {}
    }
  }

  @Test func `J6 a lost sector after the last synced is cut, and before it is damage`() async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 0)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...20 { store.send(action(number)) }
    try await journal.flush()
    for number in 21...60 { store.send(action(number)) }
    recording.invalidate()
    let bytes = try folder.bytes()
    let line = try #require(try folder.lines().firstIndex { $0.contains(#""synced":20"#) })
    let vouching = try folder.lines()[..<line].reduce(0) { $0 + $1.utf8.count + 1 }
    for sector in 0..<(bytes.count / 512) {
      var lost = bytes
      lost.replaceSubrange((sector * 512)..<(sector * 512 + 512), with: Data(count: 512))
      let copy = try Folder()
      try copy.write(lost, to: "journal")
      let place = sector * 512
      // No line vouches for the sector in which the vouching line begins.
      if place == 0 || (place + 1..<place + 512).contains(vouching) { continue }
      if place + 512 <= vouching {
        #expect(throws: JournalFailure.self) { try LedgerJournal(copy).verify() }
      } else {
        let opened = try LedgerJournal(copy)
        #expect(opened.lastNumber >= 20 && opened.lastNumber < 60)
        #expect(try opened.replay().count == opened.lastNumber)
        #expect(opened.status.current()?.bytesCutAtOpen ?? 0 >= bytes.count - place - 512)
      }
    }
  }

  @Test func `J6 a file whose first state is torn is empty`() throws {
    let folder = try Folder()
    _ = try folder.record(0)
    var bytes = try folder.bytes()
    let header = try folder.lines()[0].utf8.count + 1
    bytes = bytes.prefix(header + 30) + Data(count: 2_000)
    try folder.write(bytes, to: "journal")
    #expect(try LedgerJournal(folder).replay() == Ledger())
    #expect(try folder.record(2).count == 3)
    try LedgerJournal(folder).verify()
  }

  @Test func `J7 a bad line that never was a torn line is damage`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let bytes = try folder.bytes()
    let last = try folder.lines().dropLast().reduce(0) { $0 + $1.utf8.count + 1 }
    let failure = JournalFailure.damaged(atByte: last)
    func open(_ change: (inout Data) -> Void) throws -> Int {
      var changed = bytes
      change(&changed)
      try folder.write(changed, to: "journal")
      return try LedgerJournal(folder).lastNumber
    }
    #expect(throws: failure) { try open { $0[$0.count - 1] = UInt8(ascii: "x") } }
    #expect(try open { $0[$0.count - 1] = 0 } == 2)
    #expect(throws: failure) { try open { $0[last + 40] ^= 1 } }
    let unknown = checkedLine(#""number":4,"color":1,"action":{"halve":{}}}"#)
    #expect(throws: JournalFailure.damaged(atByte: bytes.count)) {
      try open { $0 += Data(unknown.utf8) }
    }
    let newer = checkedLine(#""number":4,"v":2,"action":{"halve":{}}}"#)
    #expect(try open { $0 += Data(newer.utf8) } == 4)
    #expect(throws: JournalFailure.newer(number: 4, version: 2)) {
      try LedgerJournal(folder).replay()
    }
  }

  @Test func `J7 a hole before the last state makes the next recording begin a new file`() throws {
    let folder = try Folder()
    let states = try folder.record(40, every: 40)
    var bytes = try folder.bytes()
    bytes.replaceSubrange(1_024..<1_536, with: Data(count: 512))
    try folder.write(bytes, to: "journal")

    #expect(throws: JournalFailure.self) { try LedgerJournal(folder).verify() }
    let journal = try LedgerJournal(folder)
    let store = Store(try journal.replay(), reducer: keeping)
    #expect(store.state == states[40])
    let recording = journal.record(store)
    store.send(action(41))

    let segment = try Data(contentsOf: folder.file("journal.segments/000001-0.journal"))
    #expect(segment == bytes)
    #expect(try folder.lines().count == 3)
    #expect(try journal.replay() == store.state)
    try journal.verify()
    withExtendedLifetime(recording) {}
  }

  @Test func `J8 the first line after a synchronization vouches for the lines before it`()
    async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for round in 1...3 {
      store.send(action(2 * round - 1))
      store.send(action(2 * round))
      try await journal.flush()
    }
    store.send(action(7))
    let marks = try folder.lines().map { line in
      line.firstMatch(of: /"synced":([0-9]+)/).map { String($0.1) }
    }
    #expect(marks == [nil, nil, nil, nil, "2", nil, "4", nil, "6"])
    #expect(journal.status.current()?.durableNumber == 6)
    withExtendedLifetime(recording) {}
  }

  @Test func `J9 complete lines of a short write count`() async throws {
    let folder = try Folder()
    let child = try Child("batch", folder.path("journal"), "4000", program: "journal-keeper")
    let said = await child.output.rest()
    _ = await child.status()
    let journal = try LedgerJournal(folder)
    #expect(journal.lastNumber > 10 && journal.lastNumber < 99)
    #expect(said[2] == "100 sent, \(journal.lastNumber) written, false")
    #expect(said[3] == "\(journal.lastNumber) replayed")
  }

  @Test func `J22 a restart without a commit adds less than 128 bytes`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let (bytes, lines) = (try folder.bytes().count, try folder.lines().count)
    let count = scaled(100)
    for _ in 1...count { _ = try folder.record(0) }

    #expect(try folder.bytes().count - bytes < 128 * count)
    // A line that vouches for other lines has `synced`, and begins no recording.
    let begun = try folder.lines()[lines...].filter { !$0.contains(#""synced":"#) }
    #expect(begun.count == count)
    #expect(begun.contains { $0.hasSuffix(#""resume":true}"#) })
    let journal = try LedgerJournal(folder)
    #expect(try journal.replay().count == 3)
    try journal.verify()
  }
}
