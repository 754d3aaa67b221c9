import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private enum Shape: Codable, Equatable {
  case point
  case circle(radius: Double)
  case many([Shape])
}

private class Base: Codable {
  var name = "base"

  init() {}
}

private final class Derived: Base {
  enum Key: CodingKey { case number }

  let number: Int

  init(_ number: Int) {
    self.number = number
    super.init()
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    number = try container.decode(Int.self, forKey: .number)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(number, forKey: .number)
    try super.encode(to: container.superEncoder())
  }
}

private struct Everything: Codable, Equatable {
  var yes = true
  var text = "a/b~c"
  var bytes: [UInt8] = [0, 255]
  var large = Int64.max
  var larger = UInt64.max
  var small: Int8 = -1
  var float: Float = 0.1
  var fraction = 1.5
  var missing: Int?
  var holes: [Int?] = [nil, 1, nil]
  var none: [Int] = []
  var table: [String: [String: Int]] = ["a/b": ["": 1, "0": 2], "empty": [:]]
  var numbers: [Int: String] = [0: "zero", 1: "one", 10: "ten"]
  var pairs: [Float: Int] = [0.5: 1]
  var shapes: [Shape] = [.point, .circle(radius: 2), .many([.point, .many([])])]
  var date = Date(timeIntervalSince1970: 1_700_000_000.25)
  var url = URL(string: "https://example.com/a?b=c")
  var data = Data([1, 2, 3])
  var todos: Rows<Todo> = [Todo(3, "x"), Todo(1, "y")]
  var nested: [[[Int]]] = [[], [[]], [[1], [2, 3]]]
}

/// The inverse of flattening.
@Suite(.light) struct FlatDecodingTests {
  @Test func `a subclass decodes its superclass`() throws {
    let value = Derived(7)
    value.name = "x"
    let copy = try FlatState(value).decode(Derived.self)
    #expect(copy.number == 7 && copy.name == "x")
  }

  @Test func `a flattened value decodes to an equal value`() throws {
    let value = Everything()
    let flat = try FlatState(value)

    #expect(try flat.decode(Everything.self) == value)
    #expect(try FlatState(values: flat.values).decode() == value)
    #expect(FlatState(values: flat.values) == flat)
  }

  @Test func `top-level scalars and containers decode`() throws {
    #expect(try FlatState(7).decode(Int.self) == 7)
    #expect(try FlatState("").decode(String.self).isEmpty)
    #expect(try FlatState(Int?.none).decode(Int?.self) == nil)
    #expect(try FlatState([Int]()).decode([Int].self).isEmpty)
    #expect(try FlatState([String: Int]()).decode([String: Int].self).isEmpty)
    let eleven = Array(0...11)
    #expect(try FlatState(eleven).decode([Int].self) == eleven)
    #expect(try FlatState(Double.nan).decode(Double.self).isNaN)
  }

  @Test func `a mismatch throws with its path`() throws {
    struct Old: Codable { var rows = [["a": 1]] }
    struct New: Codable { var rows: [[String: String]] }
    let flat = try FlatState(Old())

    let error = #expect(throws: DecodingError.self) { try flat.decode(New.self) }
    guard case .typeMismatch(let type, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(type)" == "String")
    #expect(context.codingPath.map(\.stringValue) == ["rows", "0", "a"])
    #expect(context.debugDescription == "Found 1 instead of String.")
    #expect(throws: DecodingError.self) { try FlatState(300).decode(UInt8.self) }
    #expect(throws: DecodingError.self) { try FlatState(1).decode([Int].self) }
    #expect(throws: DecodingError.self) { try FlatState([1]).decode(Int.self) }
    #expect(throws: DecodingError.self) { try FlatState([1]).decode(Everything.self) }
  }

  @Test func `applying each diff of a store yields its state`() throws {
    struct Shelf: Codable, Equatable, Sendable {
      var todos: Rows<Todo> = []
      var tags: [String: Int] = [:]
      var note: String?
    }
    let store = Store<Shelf, Never>(Shelf())
    let copy = Shared(try FlatState(Shelf()))
    let subscription = store.diffs.subscribe { diff in
      if let diff = try? diff.get() { copy.change { $0 = $0.applying(diff) } }
    }

    var random = SeededGenerator(seed: 7)
    for number in 0..<200 {
      store.commit { shelf in
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: _ = shelf.todos.append(Todo(number, "\(number)"))
        case 2: if !shelf.todos.isEmpty { shelf.todos.remove(id: shelf.todos.ids[0]) }
        case 3: shelf.tags["\(number % 3)"] = shelf.tags.count == 3 ? nil : number
        case 4: shelf.tags = [:]
        default: shelf.note = shelf.note == nil ? "n" : nil
        }
      }
      #expect(try copy.value.decode(Shelf.self) == store.state)
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `subscribe(state:diffs:) has no gap while threads commit`() throws {
    for _ in 0..<scaled(5) {
      let store = Store<[Int: Int], Never>([:])
      let copies = Shared<[Shared<(FlatState, Int)?>]>([])
      let bag = SubscriptionBag()
      onThreads(3) { thread in
        for number in 0..<20 {
          store.commit { $0[thread * 1_000 + number] = number }
          if number % 4 != 0 { continue }
          let copy = Shared<(FlatState, Int)?>(nil)
          copies.append(copy)
          store.subscribe { number, state in
            #expect(copy.value == nil)
            copy.value = (try? FlatState(state)).map { ($0, number) }
          } diffs: { diff in
            guard let diff = try? diff.get(), let (flat, number) = copy.value else {
              Issue.record("A diff came before the state.")
              return
            }
            #expect(diff.commit == number + 1)
            copy.value = (flat.applying(diff), diff.commit)
          }.store(in: bag)
        }
      }
      #expect(copies.value.count == 15)
      for copy in copies.value {
        #expect(try copy.value?.0.decode([Int: Int].self) == store.state)
      }
    }
  }

  @Test func `subscribe(state:diffs:) of a scope has the child's paths`() {
    struct House: Codable, Sendable {
      var hall = ["lamps": 0]
      var guest: [String: Int]? = ["bags": 2]
    }
    let store = Store<House, Never>(House())
    let lines = Shared<[String]>([])
    let guest = store.scope(ifPresent: \.guest)
    let subscription = guest?.subscribe { number, state in
      lines.append("\(number) \(state)")
    } diffs: { diff in
      if let diff = try? diff.get() { lines.append("\(diff)") }
    }

    store.commit { $0.guest?["bags"] = 3 }
    store.commit { $0.hall["lamps"] = 1 }
    store.commit { $0.guest = nil }

    #expect(lines.value == ["0 [\"bags\": 2]", "1 bags: 2 → 3"])
    #expect(subscription?.isSubscribed == false)
  }
}
