import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Numbers that no journal counts to, in lines with a correct checksum.
extension JournalTests {
  private static let largest = "999999999999999999"

  /// Records nine actions, and returns the bodies of the lines.
  private func bodies(_ folder: Folder) async throws -> [String] {
    do {
      let journal = try LedgerJournal(folder, every: 0)
      let store = Store(Ledger(), reducer: keeping)
      let recording = journal.record(store)
      for number in 1...2 { store.send(action(number)) }
      try await journal.compact()
      for number in 3...9 { store.send(action(number)) }
      try await journal.flush()
      recording.invalidate()
    }
    return try folder.lines().map { String($0.dropFirst(bodyOffset)) }
  }

  private func data(_ bodies: [String]) -> Data { Data(bodies.map(checkedLine).joined().utf8) }

  @Test func `J7 a number that no journal counts to is damage`() async throws {
    let folder = try Folder()
    let bodies = try await bodies(folder)
    let bytes = try folder.bytes()
    #expect(data(bodies) == bytes)
    try await expect(nil, bytes, in: folder, "intact")
    // The names of numbers, and the index of a line that has it.
    let members = [
      ("segment", 0), ("first", 0), ("place", 0), ("version", 0), ("number", 1), ("at", 1),
      ("number", 5), ("synced", bodies.count - 1),
    ]
    for (name, index) in members {
      for digits in ["\(Int.max)", "1000000000000000000", "01"] {
        var forged = bodies
        let pattern = try Regex("\"\(name)\":\\d+")
        #expect(forged[index].contains(pattern), "\(name)")
        forged[index].replace(pattern, with: "\"\(name)\":\(digits)", maxReplacements: 1)
        let place = forged[..<index].reduce(0) { $0 + checkedLine($1).utf8.count }
        try await expect(
          .damaged(atByte: place), data(forged), in: folder, "\(name) \(digits)")
      }
    }
  }

  @Test func `J18 a file with the largest sequence number is not compacted`() async throws {
    let folder = try Folder()
    var bodies = try await bodies(folder)
    bodies[0].replace(#""segment":2"#, with: #""segment":\#(Self.largest)"#)
    try folder.write(data(bodies), to: "journal")
    let journal = try LedgerJournal(folder)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(10))
    await #expect(throws: JournalFailure.file(.EOVERFLOW)) { try await journal.compact() }
    store.send(action(11))
    try await journal.flush()
    #expect(recording.isSubscribed && journal.lastNumber == 11)
    #expect(try journal.replay() == store.state)
  }

  @Test func `J18 no commit follows the commit with the largest number`() throws {
    let folder = try Folder()
    let state = String(decoding: try makeEncoder().encode(Ledger()), as: UTF8.self)
    let bodies = [
      #""journal":"MiniRex","version":2,"segment":1,"first":0}"#,
      #""number":\#(Self.largest),"start":\#(state)}"#,
    ]
    let bytes = data(bodies)
    try folder.write(bytes, to: "journal")
    let journal = try LedgerJournal(folder)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    store.send(action(2))
    #expect(journal.problem == .file(.EOVERFLOW) && !recording.isSubscribed)
    #expect(try journal.replay(upTo: .max) == Ledger())
    #expect(try folder.bytes().prefix(bytes.count) == bytes)
  }

  /// A snapshot that another thread has encoded names the place of the line after its commit.
  @Test func `J7 a snapshot of a commit before the file is damage`() async throws {
    let folder = try Folder()
    let bodies = try await bodies(folder)
    let state = String(decoding: try makeEncoder().encode(Ledger()), as: UTF8.self)
    for back in ["999999999999999999", "1000000", "1"] {
      let late = #""number":5,"back":\#(back),"snapshot":\#(state)}"#
      try folder.write(data(bodies + [late]), to: "journal")
      #expect(throws: JournalFailure.self) { try LedgerJournal(folder) }
      // Opening finds the last snapshot, which the changes reject.
      try folder.write(data(bodies + [late, #""number":9,"snapshot":0}"#]), to: "journal")
      let journal = try LedgerJournal(
        folder.journal,
        upcasting: JournalUpcasting().state { if case .number = $0 { throw CancellationError() } })
      #expect(throws: JournalFailure.self) { try journal.replay() }
      _ = try? await journal.compact()
    }
  }
}
