import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// At least one test for each sentence of S39 and S40, in extensions.
@Suite(.light) struct JournalTests {}

typealias LedgerJournal = Journal<Ledger, LedgerAction>

extension Journal where State == Ledger, Action == LedgerAction {
  /// The second does not change, so that lines do not differ from run to run.
  convenience init(
    _ folder: Folder, _ name: String = "journal", every count: Int? = 1_000,
    keeping history: JournalHistory = .everything, sync: JournalSyncPolicy = .onFlush
  ) throws {
    try self.init(
      folder.file(name), keeping: history, snapshotEvery: count, sync: sync
    ) { 1_000 }
  }

  func replay(upTo number: Int? = nil) throws(JournalFailure) -> Ledger {
    try replay(Ledger(), upTo: number, reducer: keeping)
  }

  @discardableResult
  func verify() throws(JournalFailure) -> JournalVerification {
    try verify(Ledger(), reducer: keeping)
  }
}

extension Folder {
  var journal: URL { file("journal") }

  /// The names of the closed files, oldest first.
  var segments: [String] {
    let folder = path("journal.segments")
    return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
  }

  func bytes() throws -> Data { try Data(contentsOf: journal) }

  func lines() throws -> [String] {
    try String(contentsOf: journal, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Records `count` actions, and returns the first state and the state after each action.
  func record(_ count: Int, every distance: Int = 1_000) throws -> [Ledger] {
    let journal = try LedgerJournal(self, every: distance)
    let store = Store(try journal.replay(), reducer: keeping)
    let recording = journal.record(store)
    let states =
      [store.state]
      + (0..<count).map { _ in
        store.send(action(journal.lastNumber + 1))
        return store.state
      }
    recording.invalidate()
    return states
  }
}

/// Returns JSON with sorted keys, for comparisons byte for byte.
func encoded(_ state: Ledger) throws -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return try encoder.encode(state)
}
