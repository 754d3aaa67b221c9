import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Forged headers and lines, most of them with a correct checksum.
@Suite(.light) struct JournalForgeryTests {
  /// Records nine actions, two compactions, and a late snapshot.
  private func files() async throws -> [String: String] {
    let folder = try Folder()
    do {
      let journal = try LedgerJournal(folder, every: 3)
      let store = Store(Ledger(), reducer: keeping)
      let recording = journal.record(store)
      for number in 1...9 {
        store.send(action(number))
        if number % 4 == 0 { try await journal.compact() }
      }
      try await journal.flush()
      recording.invalidate()
    }
    let names = ["journal"] + folder.segments.map { "journal.segments/\($0)" }
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try String(contentsOf: folder.file($0), encoding: .utf8))
      })
  }

  /// Replaces numbers before the payload, whose numbers belong to the reducer.
  private func fields(_ body: String, _ forger: inout Forger) -> String {
    let keys = ["action", "snapshot", "start", "cause", "resume"].map { ",\"\($0)\":" }
    let end = keys.compactMap { body.firstRange(of: $0)?.lowerBound }.min() ?? body.endIndex
    return forger.fields(String(body[..<end])) + body[end...]
  }

  private func forge(_ text: String, _ forger: inout Forger) -> Data {
    let lines = text.split(separator: "\n").map { $0.dropFirst(bodyOffset) }
    let forged = Int.random(in: 0..<min(lines.count, 3), using: &forger.random)
    let isHeader = Bool.random(using: &forger.random)
    var data = Data()
    for (index, line) in lines.enumerated() {
      var body = String(line)
      if index == (isHeader ? 0 : lines.count - 1 - forged) { body = fields(body, &forger) }
      // A snapshot of another thread.
      if Int.random(in: 0..<20, using: &forger.random) == 0 {
        body.replace(",\"snapshot\":", with: ",\"back\":\(index * 50),\"snapshot\":")
        body = fields(body, &forger)
      }
      data += Data(checkedLine(body).utf8)
    }
    return Int.random(in: 0..<8, using: &forger.random) == 0 ? forger.bytes(data) : data
  }

  /// Calls a function of the journal, which fails with a typed failure or not at all.
  private func attempt(_ body: () async throws -> Void) async {
    do { try await body() } catch {
      let isTyped = error is JournalFailure || error is JournalInspector.Failure
      if !isTyped { Issue.record(error) }
    }
  }

  @Test func `J7 no forged number traps`() async throws {
    let files = try await files()
    var forger = Forger(seed: 4)
    for _ in 0..<scaled(60) {
      let folder = try Folder()
      try folder.make("journal.segments")
      for (name, text) in files.sorted(by: { $0.key < $1.key }) {
        let isForged = name == "journal" || Bool.random(using: &forger.random)
        try folder.write(isForged ? forge(text, &forger) : Data(text.utf8), to: name)
      }
      await attempt {
        let reader = try LedgerReader(folder.journal)
        for number in [0, 3, 5, 9, Int.max] {
          await attempt { _ = try reader.replay(Ledger(), upTo: number, reducer: keeping) }
        }
        try reader.backup(to: folder.file("copy"))
      }
      await attempt { try JournalInspector(folder.journal).read({ _, _ in }, { _ in }) }
      let histories: [JournalHistory] = [
        .everything, .latestState, .last(commits: 2), .last(for: .seconds(9)),
      ]
      for history in histories.shuffled(using: &forger.random) {
        await attempt {
          let journal = try LedgerJournal(folder, keeping: history)
          await attempt { try journal.verify() }
          await attempt { _ = try journal.number(at: Date(timeIntervalSince1970: 999)) }
          await attempt { try await journal.compact() }
          let store = Store(try journal.replay(), reducer: keeping)
          let recording = journal.record(store)
          for number in 1...4 { store.send(action(number)) }
          await attempt { try await journal.compact() }
          await attempt { try await journal.flush() }
          if journal.problem == nil { #expect(try journal.replay() == store.state) }
          withExtendedLifetime(recording) {}
        }
      }
    }
  }
}
