import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

typealias LedgerReader = JournalReader<Ledger, LedgerAction>

/// A ledger that follows a journal.
private struct Projection {
  var ledger = Ledger()
  var number = 0
  var entries = 0
  var states = 0

  mutating func apply(_ entry: JournalEntry<Ledger, LedgerAction>) {
    entries += 1
    switch entry.content {
    case .action(let action):
      #expect(entry.number == number + 1)
      _ = keeping(&ledger, action)
    case .state(let state):
      states += 1
      #expect(entry.number == number || entry.number == number + 1)
      ledger = state
    }
    number = entry.number
  }
}

extension JournalTests {
  @Test func `J27 a reader sees complete lines only, and needs no lock`() async throws {
    let folder = try Folder()
    #expect(throws: JournalFailure.file(.ENOENT)) { try LedgerReader(folder.journal) }
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...5 { store.send(action(number)) }
    let reader = try LedgerReader(folder.journal)
    #expect(try reader.replay(Ledger(), reducer: keeping) == store.state)
    #expect(try reader.replay(Ledger(), upTo: 3, reducer: keeping).count == 3)
    recording.invalidate()

    let half = #"{"crc":"01234567","number":6,"action""#
    try folder.append(half, to: "journal")
    let bytes = try folder.bytes()
    #expect(try reader.replay(Ledger(), reducer: keeping) == store.state)
    var projection = Projection()
    for try await entry in reader.entries(after: 0) {
      projection.apply(entry)
      if entry.number == 5 { break }
    }
    #expect(projection.ledger == store.state && projection.entries == 5)
    #expect(try folder.bytes() == bytes && folder.names == ["journal"])
  }

  @Test(arguments: [JournalHistory.everything, .last(commits: 50), .latestState])
  func `J28 entries follow compactions without a gap or a repetition`(history: JournalHistory)
    async throws
  {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 20, keeping: history)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let count = scaled(3_000)
    let reader = try LedgerReader(folder.journal)
    let following = Task {
      var projection = Projection()
      for try await entry in reader.entries(after: 0, every: .milliseconds(1)) {
        projection.apply(entry)
        if entry.number == count { break }
      }
      return projection
    }
    let isOver = Shared(false)
    let compacting = Task.detached {
      while !isOver.value {
        try await journal.compact()
        // A compaction without a new commit does not suspend.
        try await Task.sleep(for: .microseconds(100))
      }
    }
    for number in 1...count {
      store.send(action(number))
      // A reader that is late by more than 50 commits finds them deleted.
      if number % 10 == 0, history != .everything { try await Task.sleep(for: .milliseconds(1)) }
    }
    isOver.value = true
    try await compacting.finished()
    do {
      let projection = try await following.finished()
      #expect(projection.ledger == store.state && projection.entries == count)
    } catch JournalFailure.notKept(let first) {
      #expect(history != .everything && first > 0)
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `J28 a late reader reads the closed files, or throws notKept`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, keeping: .last(commits: 25))
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...60 {
      store.send(action(number))
      if number % 10 == 0 { try await journal.compact() }
    }
    let reader = try LedgerReader(folder.journal)
    var numbers: [Int] = []
    for try await entry in reader.entries(after: 33) {
      numbers.append(entry.number)
      if entry.number == 60 { break }
    }
    #expect(numbers == Array(34...60))
    await #expect(throws: JournalFailure.notKept(first: 30)) {
      for try await _ in reader.entries(after: 29) {}
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `J28 a recording that began with another state is an entry`() async throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(notes: ["other"]), reducer: keeping)
    let recording = journal.record(store)
    store.send(action(1))
    try await journal.compact()
    store.send(action(2))
    let reader = try LedgerReader(folder.journal)
    for first in [0, 3] {
      var projection = Projection()
      projection.number = first
      for try await entry in reader.entries(after: first) {
        projection.apply(entry)
        if entry.number == 5 { break }
      }
      #expect(projection.ledger == store.state && projection.states == 1)
    }
    withExtendedLifetime(recording) {}
  }

  @Test func `J28 entries end with their task`() async throws {
    let folder = try Folder()
    _ = try folder.record(1)
    let reader = try LedgerReader(folder.journal)
    let following = Task {
      var count = 0
      for try await _ in reader.entries(after: 0) { count += 1 }
      return count
    }
    following.cancel()
    #expect(try await following.finished() <= 1)
  }

  @Test func `J29 durableOnly emits no commit that a power loss can revoke`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let seen = Shared(0)
    let reader = try LedgerReader(folder.journal)
    let following = Task {
      for try await entry in reader.entries(after: 0, durableOnly: true, every: .milliseconds(1)) {
        #expect(entry.number <= journal.status.current()?.durableNumber ?? -1)
        seen.value = entry.number
      }
    }
    for number in 1...3 { store.send(action(number)) }
    try await journal.flush()
    store.send(action(4))
    await until { seen.value == 3 }
    try await journal.compact()
    store.send(action(5))
    await until { seen.value == 4 }
    following.cancel()
    try await following.finished()
    #expect(seen.value == 4)
    withExtendedLifetime(recording) {}
  }

  @Test func `J30 a backup made during compactions is consistent`() async throws {
    let folder = try Folder()
    let journal = try LedgerJournal(folder, every: 20)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    let isOver = Shared(false)
    let sending = Task.detached {
      await onQueue {
        while !isOver.value, store.state.count < 5_000 { store.send(action(store.state.count + 1)) }
      }
    }
    let compacting = Task.detached {
      while !isOver.value {
        try await journal.compact()
        // A compaction without a new commit does not suspend.
        try await Task.sleep(for: .microseconds(100))
      }
    }
    let reader = try LedgerReader(folder.journal)
    for round in 1...10 {
      let number = journal.lastNumber
      let target = folder.file("backup \(round)")
      try reader.backup(to: target)
      #expect(throws: JournalFailure.file(.EEXIST)) { try reader.backup(to: target) }
      let copy = try LedgerJournal(target.appending(path: "journal"))
      let count = try copy.replay().count
      #expect(copy.lastNumber >= number && count == copy.lastNumber)
      let verification = try copy.verify()
      #expect(verification.firstNumber == 0 && verification.lastNumber == copy.lastNumber)
    }
    isOver.value = true
    await sending.finished()
    try await compacting.finished()
    withExtendedLifetime(recording) {}
  }
}
