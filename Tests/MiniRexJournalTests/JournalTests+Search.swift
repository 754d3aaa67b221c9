import Foundation
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  /// Records more than two blocks, so that the binary search runs.
  private func recordLong(_ folder: Folder) throws -> [Ledger] {
    try folder.record(2_500, every: 20)
  }

  @Test func `S40 replay up to a number finds it in a long file`() throws {
    let folder = try Folder()
    let states = try recordLong(folder)
    #expect(try folder.bytes().count > 150_000)

    let journal = try LedgerJournal(folder)
    let calls = Shared(0)
    for number in stride(from: 0, through: 2_500, by: 97) + [1, 19, 20, 21, 2_499] {
      let state = try journal.replay(Ledger(), upTo: number) { state, action in
        calls.increment()
        return keeping(&state, action)
      }
      #expect(state == states[number])
    }
    // Each replay begins at the snapshot before the number.
    #expect(calls.value < 31 * 20)
    #expect(throws: JournalFailure.notKept(first: 0)) { try journal.replay(upTo: -1) }
  }

  @Test func `S40 damage anywhere in a long file never makes another state`() throws {
    let folder = try Folder()
    let states = try recordLong(folder)
    let bytes = try folder.bytes()
    var random = SeededGenerator(seed: 17)

    for _ in 0..<16 {
      // Half of the bits are near the first byte that the search reads.
      let isNear = Bool.random(using: &random)
      let middle = bytes.count / 2
      let place =
        isNear
        ? Int.random(in: (middle - 150)..<middle, using: &random)
        : Int.random(in: 100..<bytes.count, using: &random)
      var damaged = bytes
      damaged[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      try folder.write(damaged, to: "journal")
      guard let journal = try? LedgerJournal(folder) else { continue }
      var damage = 0
      for _ in 0..<8 {
        let number = Int.random(in: 0..<2_500, using: &random)
        do throws(JournalFailure) {
          let state = try journal.replay(upTo: number)
          #expect(state == states[number])
        } catch .damaged {
          damage += 1
        } catch {
          Issue.record("\(error)")
        }
      }
      // A replay does not read the entire file.
      #expect(damage < 8)
    }
  }
}
