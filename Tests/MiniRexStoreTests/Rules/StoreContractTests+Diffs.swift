import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S34 diffs emits one diff per commit that changes something`() throws {
    let store = Store(Board())
    store.title = "early"
    let diffs = Recorder(store.diffs)

    store.title = "a"
    store.title = "a"
    store.commit { state in
      state.todos.append(Todo(1, "x"))
      state.title = "b"
    }
    store.todos[id: 1] = nil

    let told = try diffs.updates.map { try $0.get() }
    #expect(told.map(\.commit) == [2, 4, 5])
    #expect(
      told.map(\.changes) == [
        ["title": .changed(from: .string("early"), to: .string("a"))],
        [
          "title": .changed(from: .string("a"), to: .string("b")),
          "todos": .removed(.emptyArray), "todos/0/id": .added(.int(1)),
          "todos/0/text": .added(.string("x")),
        ],
        [
          "todos": .added(.emptyArray), "todos/0/id": .removed(.int(1)),
          "todos/0/text": .removed(.string("x")),
        ],
      ])
    #expect(told.first?["title"]?.value == .string("a") && told.first?["todos"] == nil)
  }

  @Test func `S34 a state is encoded once per commit, and never without a subscriber`() {
    let store = Store(Encoded())
    let count = store.state.count
    store.number = 1
    #expect(count.value == 0)

    let all = (0..<3).map { _ in Recorder(store.diffs) }
    #expect(count.value == 1)
    for number in 2...4 { store.number = number }
    #expect(count.value == 4 && all.allSatisfy { $0.updates.count == 3 })

    for recorder in all { recorder.invalidate() }
    store.number = 5
    #expect(count.value == 4)

    let late = Recorder(store.diffs)
    store.number = 6
    #expect(late.updates.count == 1 && count.value == 6)
  }

  @Test func `S34 a failure to encode is emitted, and the next diff spans it`() {
    let store = Store(Moody())
    let diffs = Recorder(store.diffs)
    store.number = 1
    store.fails = true
    store.number = 2
    store.fails = false

    #expect(diffs.updates.map { (try? $0.get())?.commit } == [1, nil, nil, 4])
    #expect(
      (try? diffs.updates.last?.get())?.changes == [
        "number": .changed(from: .int(1), to: .int(2))
      ])

    let other = Store(Moody(number: 1, fails: true))
    let late = Recorder(other.diffs)
    other.fails = false
    #expect(
      (try? late.updates.last?.get())?.changes == [
        "number": .added(.int(1)), "fails": .added(.bool(false)),
      ])
    #expect(late.updates.count == 1)
  }

  @Test func `S34 json is an object of sorted paths and new values`() throws {
    let store = Store(Board(title: "a", todos: [Todo(1, "x"), Todo(2, "y")]))
    let diffs = Recorder(store.diffs)
    store.commit { state in
      state.title = "\"\n<é>"
      state.todos.remove(id: 2)
    }
    let diff = try #require(try diffs.updates.first?.get())

    let text = #"{"title":"\"\n<é>","todos/1/id":null,"todos/1/text":null}"#
    #expect(diff.json() == text)
    let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(parsed?["title"] as? String == "\"\n<é>" && parsed?.count == 3)
    #expect(
      "\(diff)" == #"1 title: "a" → "\"\n<é>", todos/1/id: - 2, todos/1/text: - "y""#)
  }

  @Test func `S34 all diffs together lead from the first state to the last`() throws {
    let store = Store(Board())
    let first = try FlatState(store.state)
    let diffs = Recorder(store.diffs)

    onThreads(4) { thread in
      for round in 0..<250 {
        let id = thread * 1_000 + round % 20
        store.commit { state in
          if !state.todos.append(Todo(id, "\(round)")) { state.todos[id: id]?.text = "\(round)" }
          if round.isMultiple(of: 7) { state.todos.remove(id: id) }
        }
      }
    }

    let told = try diffs.updates.map { try $0.get() }
    #expect(told.map(\.commit) == told.map(\.commit).sorted())
    var values = first.values
    for diff in told { for (path, change) in diff.changes { values[path] = change.value } }
    #expect(values == (try FlatState(store.state)).values)
  }

  @Test func `S34 diffs finish with the store and do not retain it`() {
    var store: Store<Board, Never>? = Store(Board())
    let hasEnded = Shared(false)
    let publisher = store?.diffs
    let token = publisher?.subscribe({ _ in }, onEnd: { hasEnded.value = true })
    weak let old = store
    store = nil

    #expect(old == nil && hasEnded.value && token?.isSubscribed == false)
    #expect(Recorder(publisher ?? .never).updates.isEmpty)
  }
}

private struct Board: Sendable, Encodable {
  var title = ""
  var todos: Rows<Todo> = []
}

/// Counts its encodings.
private struct Encoded: Sendable, Encodable {
  var number = 0
  let count = Shared(0)

  func encode(to encoder: any Encoder) throws {
    count.value += 1
    try ["number": number].encode(to: encoder)
  }
}

private struct Moody: Sendable, Encodable {
  enum Key: CodingKey { case number, fails }
  var number = 0
  var fails = false

  func encode(to encoder: any Encoder) throws {
    if fails { throw CancellationError() }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(number, forKey: .number)
    try container.encode(fails, forKey: .fails)
  }
}
