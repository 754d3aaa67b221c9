import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

private let adding: Reducer<Int, Int> = { state, action in
  state += action
  return .none
}

func journals() async throws {
  let file = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())")
  defer { try? FileManager.default.removeItem(at: file) }
  let journal = try Journal<Int, Int>(file, snapshotEvery: 2, synchronising: .onFlush)
  let store = Store(try journal.replay(0, reducer: adding), reducer: adding)
  let recording = journal.record(store)
  for number in 1...3 { store.send(number) }
  try await journal.flush()

  expect(journal.lastNumber == 3)
  expect(try journal.replay(0, upTo: 2, reducer: adding) == 3)
  try journal.verify(0, reducer: adding)
  expect(journal.failure.current() == .some(nil))
  do {
    _ = try Journal<Int, Int>(file, synchronising: JournalSynchronising.everyCommit)
    expect(false)
  } catch {
    expect(error == .inUse && error.description == "Another journal has the file open.")
  }
  recording.invalidate()

  let failures: [JournalFailure] = [
    .file(.ENOSPC), .version(2), .damaged(atByte: 51), .unreadable(number: 1, "changed"),
    .unwritable(number: 1, "not a number"), .diverged(number: 1),
  ]
  expect(failures.allSatisfy { $0 != .inUse })
}
