import Foundation
import MiniRex
import TestSupport
import Testing

@testable import MiniRexStore

/// Operations that change several rows.
extension StoreContractTests {
  private func rows(_ ids: [Int]) -> Rows<Todo> { Rows(ids.map { Todo($0, "\($0)") }) }

  @Test func `S21 sort keeps the order of equal rows and records the moved rows`() {
    var todos = rows([3, 11, 1, 21, 2])
    let stamp = todos.stamp
    todos.sort { $0.id % 10 < $1.id % 10 }
    #expect(todos.ids == [11, 1, 21, 2, 3])
    #expect(todos.ids(changedSince: stamp) == [3])

    let sorted = todos.stamp
    todos.sort { $0.id % 10 }
    #expect(todos.stamp == sorted)
    todos.sort(by: \.id)
    #expect(todos.ids == [1, 2, 3, 11, 21])
    #expect(todos.ids.map { todos.index(id: $0) } == [0, 1, 2, 3, 4])
  }

  @Test func `S21 rows move and are removed by positions, as in SwiftUI`() {
    var todos = rows(Array(0..<8))
    todos.move(fromOffsets: IndexSet([1, 6]), toOffset: 4)
    #expect(todos.ids == [0, 2, 3, 1, 6, 4, 5, 7])
    todos.move(fromOffsets: [0], toOffset: 8)
    #expect(todos.ids == [2, 3, 1, 6, 4, 5, 7, 0])
    let stamp = todos.stamp
    todos.move(fromOffsets: [], toOffset: 3)
    todos.move(fromOffsets: [2], toOffset: 3)
    #expect(todos.stamp == stamp)

    todos.remove(atOffsets: IndexSet([0, 3, 7]))
    #expect(todos.ids == [3, 1, 4, 5, 7])
    #expect(Set(todos.ids(changedSince: stamp) ?? []) == [2, 6, 0])
    #expect(todos.remove(at: 1).id == 1)
    #expect(todos.ids.map { todos.index(id: $0) } == [0, 1, 2, 3])
  }

  @Test func `S21 replaced ranges keep IDs unique and change rows with known IDs`() {
    var todos = rows([0, 1, 2, 3])
    let stamp = todos.stamp
    todos.replaceSubrange(
      1...2, with: [Todo(2, "new"), Todo(3, "taken"), Todo(9, "a"), Todo(9, "b")])
    #expect(todos.map(\.text) == ["0", "new", "a", "3"])
    #expect(Set(todos.ids(changedSince: stamp) ?? []) == [1, 2, 9])
    #expect(todos.index(id: 1) == nil && todos.index(id: 3) == 3)

    todos.append(contentsOf: [Todo(0, "taken"), Todo(5, "5")])
    todos.replaceSubrange(4..., with: [Todo(6, "6")])
    #expect(todos.ids == [0, 2, 9, 3, 6])
  }

  @Test func `S21 rearranged rows match an array after random changes`() {
    var random = SeededGenerator(seed: 21)
    var todos = rows(Array(0..<30))
    var array = todos.ids
    for round in 0..<scaled(2_000) {
      let offsets = (0..<3).map { _ in Int.random(in: 0..<array.count, using: &random) }
      let target = Int.random(in: 0...array.count, using: &random)
      switch round % 4 {
      case 0:
        todos.move(fromOffsets: offsets, toOffset: target)
        let moved = Set(offsets).sorted()
        let kept = array.indices.filter { !moved.contains($0) }
        array =
          kept.filter { $0 < target }.map { array[$0] } + moved.map { array[$0] }
          + kept.filter { $0 >= target }.map { array[$0] }
      case 1:
        todos.remove(atOffsets: offsets)
        array = array.enumerated().filter { !offsets.contains($0.offset) }.map(\.element)
      case 2:
        let news = (0..<3).map { round * 3 + $0 + 30 }
        todos.replaceSubrange(min(target, array.count)..., with: news.map { Todo($0, "") })
        array.replaceSubrange(min(target, array.count)..., with: news)
      default:
        todos.append(contentsOf: (0..<6).map { Todo(-round * 6 - $0, "") })
        array += (0..<6).map { -round * 6 - $0 }
      }
      #expect(todos.ids == array)
      #expect(array.indices.allSatisfy { todos.index(id: array[$0]) == $0 })
    }
  }

  @Test func `S42 positions that do not exist trap with advice`() async {
    let moving = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows = [Todo(1, "a")]
      rows.move(fromOffsets: [1], toOffset: 0)
    }
    let target = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows = [Todo(1, "a")]
      rows.move(fromOffsets: [0], toOffset: 2)
    }
    let removing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var rows: Rows = [Todo(1, "a")]
      rows.remove(atOffsets: [-1])
    }
    let prefix = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PublishedValue.constant([Todo(1, "a")] as Rows).live().prefix(-1)
    }

    #expect(advice(moving).contains("requires positions of the 1 rows, not 1."))
    #expect(advice(target).contains("'move(fromOffsets:toOffset:)' requires positions"))
    #expect(advice(removing).contains("'remove(atOffsets:)' requires positions"))
    #expect(advice(prefix).contains("'prefix' requires a count of 0 or more, not -1."))
  }

  @Test(arguments: positionTraps.indices)
  func `S42 every position that does not exist traps with advice`(index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index = index as Int] in
      await positionTraps[index].mistake()
    }

    #expect(advice(result).contains(positionTraps[index].message))
  }

  @Test func `S21 positions are right after any number of insertions at one place`() {
    var rows = Rows((0..<100).map { Todo($0, "") })
    var order = Array(0..<100)
    for id in 100..<3_000 {
      let position = id < 2_000 ? 50 : id % 3 == 0 ? 0 : order.count - 1
      rows.insert(Todo(id, ""), at: position)
      order.insert(id, at: position)
      if id.isMultiple(of: 5) {
        rows.remove(id: id / 5)
        order.removeAll { $0 == id / 5 }
      }
      if id.isMultiple(of: 7), let last = order.last {
        rows.move(id: last, to: 51)
        order.insert(order.removeLast(), at: 51)
      }
      if id.isMultiple(of: 100) {
        #expect(order.enumerated().allSatisfy { rows.index(id: $1) == $0 })
      }
    }
    #expect(rows.ids == order)
    #expect(order.enumerated().allSatisfy { rows.index(id: $1) == $0 })
  }
}

private let one: Rows = [Todo(1, "a")]

private func mistake(
  _ name: String, _ position: Int, _ change: @escaping @Sendable (inout Rows<Todo>) -> Void
) -> Trap {
  Trap("'\(name)' requires positions of the 1 rows, not \(position).") {
    var rows = one
    change(&rows)
  }
}

private let positionTraps: [Trap] = [
  mistake("rows[position]", 9) { _ = $0[9] },
  mistake("rows[position]", -1) { _ = $0[-1] },
  mistake("rows[range]", 9) { _ = $0[0..<9] },
  mistake("insert(_:at:)", 9) { $0.insert(Todo(2, "b"), at: 9) },
  mistake("remove(at:)", 9) { $0.remove(at: 9) },
  mistake("move(id:to:)", 9) { $0.move(id: 1, to: 9) },
  mistake("replaceSubrange(_:with:)", 9) { $0.replaceSubrange(0..<9, with: []) },
  mistake("replaceSubrange(_:with:)", 9) { $0.replaceSubrange(9..., with: []) },
  Trap("A snapshot has the positions of its 1 rows, not 9.") {
    _ = PublishedValue.constant(one).live().current()[9]
  },
  Trap("A snapshot has the positions of its 1 rows, not -1.") {
    _ = PublishedValue.constant(one).live().current()[-1]
  },
  Trap("A snapshot has the positions of its 1 rows, not 9.") {
    _ = PublishedValue.constant(one).live().current()[0..<9]
  },
  Trap("'apply(to:)' requires an array with the rows before the update.") {
    var rows = [Todo(1, "a")]
    RowsUpdate.changes([.removed(2, at: 9)]).apply(to: &rows)
  },
]
