import MiniRexStore
import MiniRexStoreTesting
import TestSupport
import Testing

/// The failure of a test that expects another state than the reducer makes.
private func difference<State: Sendable & Equatable>(
  _ actual: State, expected: State, stackSize: Int? = nil
) async -> String {
  let reducer: Reducer<State, Int> = { state, _ in
    state = actual
    return .none
  }
  do {
    try await withTestStore(expected, reducer: reducer) { store in
      onThread(stackSize: stackSize) { _ = try? store.send(0) }
    }
    return "none"
  } catch {
    return "\(error)".split(separator: "\n").dropFirst().joined(separator: "\n")
  }
}

private struct Todo: Sendable, Equatable, Identifiable {
  let id: Int
  var text = "Wash"
  var isDone = false
}

private struct Todos: Sendable, Equatable {
  var todos: Rows<Todo>
  var name = "home"
}

private struct Box<Content: Sendable & Equatable>: Sendable, Equatable {
  var content: Content
  var name = "box"
}

@Suite(.light) struct StateDifferenceTests {
  @Test func `S36 a failure names added, removed, moved, and changed rows`() async {
    let expected = Todos(todos: Rows((1...6).map { Todo(id: $0) }))
    var actual = expected
    actual.name = "work"
    actual.todos[id: 2] = nil
    actual.todos.move(id: 6, to: 0)
    actual.todos[id: 4]?.isDone = true
    actual.todos[id: 7] = Todo(id: 7, text: "Cook")

    let text = await difference(actual, expected: expected)

    #expect(
      text == """
          todos[id: 2]: removed from 1: Todo(id: 2, text: "Wash", isDone: false)
          todos[id: 7]: added at 5: Todo(id: 7, text: "Cook", isDone: false)
          todos[id: 6]: moved from 5 to 0
          todos[id: 4].isDone: true, expected false
          name: "work", expected "home"
        """)
  }

  @Test func `S36 one row too many of 1,000 is one line`() async {
    let rows = (0..<1_000).map { Todo(id: $0) }
    let added = rows[..<500] + [Todo(id: 1_000)] + rows[500...]

    let ofRows = await difference(Rows(added), expected: Rows(rows))
    let ofArray = await difference(added.map(\.text), expected: rows.map(\.text))

    #expect(
      ofRows == "  [id: 1000]: added at 500: Todo(id: 1000, text: \"Wash\", isDone: false)")
    #expect(ofArray == "  [1000]: added \"Wash\"")
  }

  @Test func `S36 a difference in 20,000 rows is counted and bounded`() async {
    let expected = Rows((0..<20_000).map { Todo(id: $0) })
    let actual = Rows((10_000..<30_000).reversed().map { Todo(id: $0, text: "Cook") })

    let text = await difference(
      Todos(todos: actual, name: "work"), expected: Todos(todos: expected))

    #expect(text.count < 3_000)
    #expect(text.contains("todos[id: 0]: removed from 0"))
    #expect(text.contains("todos[id: 29999]: added at 0"))
    #expect(text.contains("todos[id: 19998]: moved from 19998 to 10001"))
    #expect(text.contains("todos[id: 19999].text: \"Cook\", expected \"Wash\""))
    #expect(
      text.contains(
        "todos: 9995 more added, 9995 more removed, 9994 more moved, 9995 more changed"))
    #expect(text.hasSuffix("name: \"work\", expected \"home\""))
  }

  @Test func `S36 rows without ids are paired by value, then by position`() async {
    let changed = await difference(["a", "x", "c"], expected: ["a", "b", "c"])
    let moved = await difference(["c", "a", "b"], expected: ["a", "b", "c"])
    let removed = await difference(["a", "c"], expected: ["a", "b", "c"])
    let points = await difference(
      [Box(content: 1), Box(content: 9)], expected: [Box(content: 1), Box(content: 2)])

    #expect(changed == "  [1]: \"x\", expected \"b\"")
    #expect(moved == "  [0]: moved from 2 to 0")
    #expect(removed == "  [1]: removed \"b\"")
    #expect(points == "  [1].content: 9, expected 2")
  }

  @Test func `S36 dictionaries and sets are printed in one order`() async {
    let numbers = Dictionary(uniqueKeysWithValues: (1...50).map { ($0, "n") })
    let ofEntries = await difference(
      Box(content: ["a": 1, "b": 2, "c": 3]), expected: Box(content: ["b": 5, "c": 3, "d": 4]))
    let ofElements = await difference(Set(["x", "b", "a"]), expected: ["b", "y"])
    let ofPayload = await difference(Optional(numbers), expected: nil)

    #expect(
      ofEntries == """
          content["a"]: added 1
          content["d"]: removed 4
          content["b"]: 2, expected 5
        """)
    #expect(
      ofElements == """
          the state: added "a"
          the state: added "x"
          the state: removed "y"
        """)
    #expect(
      ofPayload == """
          the state: [1: "n", 2: "n", 3: "n", 4: "n", 5: "n", 6: "n", 7: "n", 8: "n", 9: "n", 10: "n", \
        … 40 more], expected nil
        """)
  }

  @Test func `S36 NaN equals NaN`() async {
    struct Point: Sendable, Hashable { var x: Double }
    let nan = Double.nan
    let state = Box(content: [nan, 1])

    let same = await difference(state, expected: Box(content: [nan, 1]))
    let other = await difference(Box(content: [nan, 2]), expected: state)
    let half = await difference(Box(content: Float16.nan), expected: Box(content: .nan))
    let inSet = await difference(Set([nan]), expected: [nan])
    let inStructs = await difference(Set([Point(x: nan)]), expected: [Point(x: nan)])
    let inKeys = await difference([nan: 1], expected: [nan: 1])
    let inRows = await difference(
      Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, nan) }),
      expected: Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 == 99 ? 1 : nan) }))

    #expect(same == "none")
    #expect(other == "  content[1]: 2.0, expected 1.0")
    #expect(half == "none")
    #expect(inSet == "none")
    #expect(inStructs == "none")
    #expect(inKeys == "none")
    #expect(inRows == "  [99]: nan, expected 1.0")
  }

  @Test func `S36 NaN in a received action equals NaN`() async throws {
    let reducer: Reducer<Double, Double> = { state, action in
      state = action
      return action == 0 ? .send(.nan) : .none
    }
    try await withTestStore(1, reducer: reducer) { store in
      try store.send(0) { $0 = 0 }
      try await store.receive(.nan) { $0 = .nan }
    }
  }

  @Test func `S36 a failure distinguishes nested optionals and enum payloads`() async {
    enum Phase: Sendable, Equatable {
      case idle
      case failed(code: Int, String)
      case done([Int])
      indirect case after(Phase)
    }
    let none: Int?? = .none
    let inner: Int?? = .some(.none)
    let optional = await difference(Box(content: inner), expected: Box(content: none))
    let value = await difference(Box(content: Int??.some(1)), expected: Box(content: inner))
    let payload = await difference(
      Box(content: Phase.after(.failed(code: 1, "x"))),
      expected: Box(content: .after(.failed(code: 2, "x"))))
    let other = await difference(Phase.done([1]), expected: .failed(code: 2, "x"))
    let plain = await difference(Phase.idle, expected: .after(.idle))

    #expect(optional == "  content: some(nil), expected nil")
    #expect(value == "  content: 1, expected nil")
    #expect(payload == "  content.after.failed.code: 1, expected 2")
    #expect(other == "  the state: done([1]), expected failed(code: 2, \"x\")")
    #expect(plain == "  the state: idle, expected after(idle)")
  }

  @Test func `S36 long texts are cut around their first difference`() async {
    let long = String(repeating: "a", count: 100_000)
    let text = await difference(long + "x" + long, expected: long + "y" + long)

    #expect(text.count < 400)
    #expect(text.contains("aax"))
    #expect(text.contains("aay"))
  }

  @Test func `S36 a superclass, a custom description, and a custom mirror are compared`() async {
    struct Price: Sendable, Equatable, CustomStringConvertible {
      var cents: Int
      var description: String { "\(cents / 100).\(cents % 100) EUR" }
    }
    struct Odd: Sendable, Equatable, CustomReflectable {
      var number: Int
      var customMirror: Mirror { Mirror(self, children: ["constant": 1]) }
    }
    final class Derived: Base, @unchecked Sendable {}
    class Base: @unchecked Sendable, Equatable {
      let number: Int
      init(_ number: Int) { self.number = number }
      static func == (one: Base, other: Base) -> Bool { one.number == other.number }
    }
    let derived = await difference(
      Box<Base>(content: Derived(1)), expected: Box(content: Derived(2)))
    let dynamic = await difference(Box(content: Base(1)), expected: Box(content: Derived(1)))
    let price = await difference(
      Box(content: Price(cents: 150)), expected: Box(content: Price(cents: 250)))
    let odd = await difference(Box(content: Odd(number: 1)), expected: Box(content: Odd(number: 2)))

    #expect(derived == "  content.number: 1, expected 2")
    #expect(dynamic == "none")
    #expect(price == "  content: 1.50 EUR, expected 2.50 EUR")
    #expect(
      odd == "  content: unequal to the expected value, which prints the same: Odd(constant: 1)")
  }

  @Test func `S36 objects that refer to each other are compared once`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      final class Node: @unchecked Sendable {
        var number: Int
        var next: Node?
        var others: [Node] = []
        init(_ number: Int) { self.number = number }
      }
      struct Ring: Sendable, Equatable {
        var first: Node
        var size = 0
        static func == (one: Ring, other: Ring) -> Bool {
          one.size == other.size && one.first === other.first
        }
      }
      func ring(_ size: Int, last: Int) -> Ring {
        let nodes = (0..<size).map { Node($0 == size - 1 ? last : $0) }
        for (index, node) in nodes.enumerated() {
          node.next = nodes[(index + 1) % size]
          node.others = nodes
        }
        return Ring(first: nodes[0])
      }
      let oneself = await difference(ring(1, last: 5), expected: ring(1, last: 6))
      let several = await difference(ring(15, last: 5), expected: ring(15, last: 6))
      #expect(oneself == "  first.number: 5, expected 6")
      #expect(several.contains("number: 5, expected 6"))
      #expect(several.split(separator: "\n").count == 1)
    }
  }

  @Test func `S36 unequal states without a visible difference fail`() async {
    final class Node: @unchecked Sendable {
      var next: Node?
    }
    struct Ring: Sendable, Equatable {
      let first: Node
      init(_ size: Int) {
        let nodes = (0..<size).map { _ in Node() }
        for (index, node) in nodes.enumerated() { node.next = nodes[(index + 1) % size] }
        first = nodes[0]
      }
      static func == (one: Ring, other: Ring) -> Bool { one.first === other.first }
    }
    struct Endless: Sendable, Equatable, CustomReflectable {
      var number: Int
      var customMirror: Mirror { Mirror(self, children: ["deeper": Endless(number: number)]) }
    }
    let (two, three) = (Ring(2), Ring(3))
    defer {
      // A ring retains itself.
      two.first.next = nil
      three.first.next = nil
    }
    let rings = await difference(two, expected: three)
    let endless = await difference(Endless(number: 1), expected: Endless(number: 2))

    #expect(
      rings.contains("the state: unequal to the expected value, which prints the same: Ring("))
    #expect(endless.contains("unequal to the expected value, which prints the same: Endless("))
    #expect(endless.count < 300)
  }

  @Test(.enabled(if: scale >= 1, "Sanitizers need larger stack frames."))
  func `S36 2,000 nested values are compared on 512 KiB of stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      indirect enum Chain: Sendable, Equatable {
        case end(Int)
        case link(Chain)
      }
      func chain(_ end: Int) -> Chain { (0..<2_000).reduce(.end(end)) { chain, _ in .link(chain) } }
      let text = await difference(chain(1), expected: chain(2), stackSize: 512 * 1_024)
      #expect(text.hasSuffix(".link.link.end: 1, expected 2"))
      #expect(text.count < 200)
      let other = await difference(chain(1), expected: .end(2), stackSize: 512 * 1_024)
      #expect(other.hasSuffix(", expected end(2)"))
      #expect(other.count < 200)
    }
  }
}
