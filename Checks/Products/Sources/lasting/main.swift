import MiniRex
import MiniRexJournal
import MiniRexStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A sum that a restart restores from its journal.
let reducer: Reducer<Int, Int> = { state, action in
  state += action
  return .none
}
let file = FileManager.default.temporaryDirectory.appending(path: "lasting-\(UUID())")
let journal = try Journal<Int, Int>(file)
let store = Store(try journal.replay(0, reducer: reducer), reducer: reducer)
let recording = journal.record(store)
store.send(2)
try await journal.flush()
print(try journal.replay(0, reducer: reducer))
recording.invalidate()
try FileManager.default.removeItem(at: file)
