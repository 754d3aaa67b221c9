import Foundation
import TestSupport
import Testing

@testable import MiniRexStore

extension StoreContractTests {
  @Test func `S21 row ids are unique, and the first row with an id wins`() throws {
    var rows: Rows = [Todo(1, "a"), Todo(2, "b"), Todo(1, "c")]
    let added = [rows.append(Todo(2, "d")), rows.insert(Todo(1, "e"), at: 0)]
    let decoded = try JSONDecoder().decode(
      Rows<Todo>.self, from: JSONEncoder().encode([Todo(1, "a"), Todo(2, "b"), Todo(1, "c")]))

    #expect(rows.map(\.text) == ["a", "b"])
    #expect(added == [false, false])
    #expect(decoded == rows)
  }

  @Test func `S21 rows are found, added, removed, and moved by id`() {
    var rows = Rows((1...4).map { Todo($0, "\($0)") })
    let added = [rows.append(Todo(5, "5")), rows.insert(Todo(0, "0"), at: 0)]
    rows[id: 6] = Todo(6, "6")
    let removed = [rows.remove(id: 2), rows.remove(id: 9)]
    rows[id: 3] = nil
    rows[id: 9]?.text = "nobody"
    rows.move(id: 6, to: 0)
    rows.move(id: 1, to: 3)
    rows.move(id: 9, to: 0)

    #expect(added == [true, true])
    #expect(removed == [Todo(2, "2"), nil])
    #expect(rows.ids == [6, 0, 4, 1, 5])
    #expect(rows.ids.map { rows.index(id: $0) } == [0, 1, 2, 3, 4])
    #expect(rows[id: 4]?.text == "4" && rows[id: 3] == nil && rows.index(id: 2) == nil)
    #expect(rows[1].id == 0 && rows.last?.id == 5 && Array(rows.reversed()).map(\.id).last == 6)
    rows.removeAll { $0.id > 4 }
    #expect(rows.ids == [0, 4, 1])
    #expect(rows.ids.map { rows.index(id: $0) } == [0, 1, 2])
  }

  @Test func `S21 a row is changed in place`() {
    var rows = Rows((0..<1_000).map { Boxed(id: $0, box: Box()) })
    let place = unsafe rows.withContiguousStorageIfAvailable { $0.baseAddress }

    for id in [0, 500, 999] { rows[id: id]?.change() }
    #expect([0, 500, 999].allSatisfy { rows[id: $0]?.wasAlone == true })
    #expect(unsafe rows.withContiguousStorageIfAvailable { $0.baseAddress } == place)

    let copy = rows
    rows[id: 500]?.change()
    #expect(rows[id: 500]?.wasAlone == false && copy[id: 500]?.wasAlone == true)
  }

  @Test func `S21 comparing two unchanged copies is O(1)`() {
    let (rows, comparisons) = (Rows((0..<1_000).map { Counted(id: $0) }), Counted.comparisons)
    var copy = rows
    // The stamps differ, although the rows are equal.
    copy.rows = copy.rows.map { $0 }
    comparisons.value = 0
    #expect(rows == copy && Rows<Counted>() == Rows())
    #expect(comparisons.value == 0)

    copy[id: 0] = Counted(id: 0)
    #expect(rows == copy && rows == Rows(rows))
    #expect(comparisons.value >= 1_000)
  }

  @Test func `S21 a throwing change counts as a change, and a read does not`() {
    var rows: Rows = [Todo(1, "a"), Todo(2, "b")]
    let before = rows.stamp
    _ = rows[id: 1]?.text
    _ = rows.map(\.text)
    rows[id: 3]?.text = "c"
    rows.removeAll { _ in false }
    rows.move(id: 2, to: 1)
    #expect(rows.stamp == before)

    try? rows[id: 1]?.fail(after: "x")
    #expect(rows.ids(changedSince: before) == [1])
    #expect(rows.map(\.text) == ["x", "b"])
  }

  @Test func `S21 rows are coded and described like an array`() throws {
    let todos = [Todo(1, "a"), Todo(2, "b")]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys

    #expect(try encoder.encode(Rows(todos)) == encoder.encode(todos))
    #expect(try JSONDecoder().decode(Rows<Todo>.self, from: encoder.encode(todos)) == Rows(todos))
    #expect("\(Rows(todos))" == "\(todos)")
    #expect(Mirror(reflecting: Rows(todos)).children.count == 2)
  }

  @Test func `S21 changing a row's id traps with advice`() async {
    let replacing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows = [Todo(1, "a")]
      rows[id: 1] = Todo(2, "b")
    }
    let changing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows = [Todo(1, "a")]
      rows[id: 1]?.id = 2
    }
    let creating = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows<Todo> = []
      rows.update(to: [1], id: { $0 }) { _, _ in Todo(2, "b") }
    }

    for result in [replacing, changing, creating] {
      #expect(advice(result).contains("A row of Rows cannot change its id from 1 to 2."))
    }
  }

  @Test func `S22 update replaces a section and keeps its known rows`() {
    var rows: Rows = [Todo(1, "a"), Todo(2, "b"), Todo(3, "c")]
    rows.update(to: [4, 3, 5, 1, 4], id: { $0 }) { Todo($1, "new \($0)") }

    #expect(rows.ids == [4, 3, 5, 1])
    #expect(rows.map(\.text) == ["new 0", "c", "new 2", "a"])
    #expect(rows.ids.map { rows.index(id: $0) } == [0, 1, 2, 3])
    #expect(rows.index(id: 2) == nil)
  }

  @Test(arguments: [
    // The rows, the news of the section, and the result. Even ids are the section.
    ([1, 2, 3, 4, 5], [4, 2], [1, 4, 3, 2, 5]),
    ([1, 2, 3, 4, 5], [6, 4, 8, 2], [1, 6, 3, 4, 8, 2, 5]),
    ([1, 2, 3, 4, 5], [4], [1, 4, 3, 5]),
    ([1, 2, 3, 4, 5], [], [1, 3, 5]),
    ([1, 3], [2, 4], [1, 3, 2, 4]),
    ([], [2, 2, 4], [2, 4]),
    ([1, 2], [1, 2, 4], [1, 2, 4]),
    ([2, 4], [], []),
  ])
  func `S22 rows outside the section keep their positions`(old: [Int], news: [Int], new: [Int]) {
    var rows = Rows(old.map { Todo($0, "old") })
    rows.update(to: news, id: { $0 }, where: { $0.id.isMultiple(of: 2) }) { Todo($1, "new \($0)") }

    #expect(rows.ids == new)
    #expect(new.allSatisfy { old.contains($0) == (rows[id: $0]?.text == "old") })
    #expect(new.enumerated().allSatisfy { rows.index(id: $1) == $0 })
  }

  @Test func `S22 an update reports added and removed rows only`() {
    var rows: Rows = [Todo(1, "a"), Todo(2, "b"), Todo(3, "c")]
    let first = rows.stamp
    rows.update(to: [1, 2, 3], id: { $0 }) { _, id in Todo(id, "new") }
    #expect(rows.stamp == first)

    rows.update(to: [2, 3, 4], id: { $0 }) { _, id in Todo(id, "new") }
    let second = rows.stamp
    #expect(Set(rows.ids(changedSince: first) ?? []) == [1, 4])

    rows.update(to: [4, 3, 2], id: { $0 }) { _, id in Todo(id, "new") }
    #expect(rows.stamp != second && rows.structureStamp == rows.stamp)
  }
}

private struct Boxed: Identifiable, Sendable {
  let id: Int
  var box: Box
  var wasAlone = false

  mutating func change() { wasAlone = isKnownUniquelyReferenced(&box) }
}

private final class Box: Sendable {}

private struct Counted: Identifiable, Equatable, Sendable {
  static let comparisons = Shared(0)
  let id: Int

  static func == (one: Counted, other: Counted) -> Bool {
    comparisons.value += 1
    return one.id == other.id
  }
}
