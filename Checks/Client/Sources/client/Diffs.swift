import MiniRexStore
import MiniRexTesting

func diffs() throws {
  let values: [FlatValue] = [
    .null, .emptyArray, .emptyObject, .bool(true), .int(1), .uint(2), .double(1.5), .string("a"),
  ]
  expect(values.map(\.description) == ["null", "[]", "{}", "true", "1", "2", "1.5", "\"a\""])
  let (one, other) = (try FlatState(["a": 1]), try FlatState(["a": 2]))
  expect(one.values == ["a": .int(1)] && one != other && one.hashValue == one.hashValue)
  expect(one.changes(since: other) == ["a": .changed(from: .int(2), to: .int(1))])
  expect("\(one)" == "a: 1" && FlatValue.int(1).hashValue == FlatValue.uint(1).hashValue)
  let changes: [FlatChange] = [.added(.int(1)), .removed(.int(1))]
  expect(changes.map(\.value) == [.int(1), nil] && changes.map(\.description) == ["+ 1", "- 1"])

  let store = Store(["a": 1])
  let told = Recorder(store.diffs)
  store.commit { $0["a"] = 2 }
  let diff: StateDiff? = try told.updates.first?.get()
  expect(diff?.commit == 1 && diff?.changes.count == 1 && diff?.description == "1 a: 1 → 2")
  expect(diff?["a"]?.value == .int(2) && diff?.json() == "{\"a\":2}")
}
