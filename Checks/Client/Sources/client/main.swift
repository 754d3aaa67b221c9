import BesideCombine
import Chains
import Dispatch
import Foundation
import MiniRex
import MiniRexDispatchAdapters
import MiniRexEssentialsAdapters
import MiniRexJournal
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting

// Uses a few names of each product from outside the package. Docs/API lists all of them.
//
// MiniRexFoundationAdapters and the products that build on it are used by Checks/Products: here,
// they would compile against the stub of Combine.

func expect(_ isTrue: Bool, file: StaticString = #fileID, line: UInt = #line) {
  if !isTrue { fatalError("The result differs from the documentation.", file: file, line: line) }
}

// MiniRex, MiniRexTesting

let moved = MovingModel().twice()
expect(moved.old == [2, 3, 4, 5, 6] && moved.new == [2, 4, 4])
expect(try await besideFoundation() == ["changed", #"{"key":1}"#, "1.0", "5", "1970", "6"])

expect(Recorder(twelve(of: .sequence(Array(1...12)))).updates == ["71", "121", "191"])
expect(Recorder(twelve(of: .constant(2))).updates == [])
expect(Recorder(latestTwelve(of: .constant("abc"), scale: .constant(2))).updates == ["12"])
let volume = several(.constant(2), .constant(3), .constant(0.5), scale: .never)
expect(Recorder(volume).updates == ["3"])

let clock = ManualClock()
let graph = LiveGraph(clock: clock)
let source = withInstrument(graph) { BroadcastSource<Int>(name: "numbers") }
let debounced = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
source.broadcast(1)
source.broadcast(2)
clock.advance(by: .seconds(1))
expect(debounced.updates == [2] && graph.tree().contains("numbers"))

// Results of any size, which the optimizer lays out in the client

struct Words<Word: Equatable & Sendable>: Equatable, Sendable {
  var (a, b, c, d): (Word, Word, Word, Word)
  init(_ word: Word) { (a, b, c, d) = (word, word, word, word) }
}

enum Failed: Error, Equatable {
  case at(Range<UInt64>, text: String)
  case ended
}

func expectLate<Success: Equatable & Sendable>(_ success: Success) async {
  let source = TaskSource<Success, Failed>()
  source.finish(.success(success))
  expect(Recorder(source.publisher).updates == [.success(success)])
  expect(await source.publisher.result == .success(success))
  let failing = TaskSource<Success, Failed>()
  failing.finish(.failure(.at(1..<2, text: "failed")))
  expect(Recorder(failing.publisher).updates == [.failure(.at(1..<2, text: "failed"))])
  let progressive = ProgressiveTaskSource<Success, Success, Failed>()
  progressive.report(success)
  expect(Recorder(progressive.publisher).updates == [.progress(success)])
  progressive.finish(.success(success))
  expect(Recorder(progressive.publisher).updates == [.finished(.success(success))])
}

await expectLate(UInt8(1))
await expectLate("a text in a separate allocation")
await expectLate(Words(2))
await expectLate(Words("a text in a separate allocation"))
await expectLate(Words(SIMD4<Int>(1, 2, 3, 4)))

// The adapters

let queue = DispatchQueue(label: "client")
let onQueue = Recorder(source.publisher.receive(on: queue))
source.broadcast(3)
expect(await onQueue.next() == [3])

let file = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID())")
try Data("[1, 2]".utf8).write(to: file)
expect(try await file.readTask().decode([Int].self).value == [1, 2])
try FileManager.default.removeItem(at: file)

// The stores

let adding: Reducer<Int, Int> = { state, action in
  state += action
  return action == 1 ? .send(2) : .none
}
try await withTestStore(0, reducer: adding) { store in
  try store.send(1) { $0 = 1 }
  try await store.receive(2) { $0 = 3 }
}

let journal = try Journal<Int, Int>(file, sync: .onFlush)
let store = Store(try journal.replay(0, reducer: adding), name: "sum", reducer: adding)
let recording = journal.record(store)
try await store.send(1).finished()
try await journal.flush()
expect(store.state == 3)
expect(try journal.replay(0, reducer: adding) == 3)
recording.invalidate()
try FileManager.default.removeItem(at: file)

print("The client works.")
