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

/// A list that is coded by hand: a null, then one element of each kind of integer.
private struct Integers: Codable, Equatable {
  var signed: [Int128] = [-1, -2, -3, -4, -5, -6]
  var unsigned: [UInt128] = [1, 2, 3, 4, 5, 6]
  var hasNull = true

  init() {}

  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    hasNull = try list.decodeNil()
    hasNull = try !list.decodeNil() && hasNull
    signed = [
      Int128(try list.decode(Int.self)), Int128(try list.decode(Int8.self)),
      Int128(try list.decode(Int16.self)), Int128(try list.decode(Int32.self)),
      Int128(try list.decode(Int64.self)), try list.decode(Int128.self),
    ]
    unsigned = [
      UInt128(try list.decode(UInt.self)), UInt128(try list.decode(UInt8.self)),
      UInt128(try list.decode(UInt16.self)), UInt128(try list.decode(UInt32.self)),
      UInt128(try list.decode(UInt64.self)), try list.decode(UInt128.self),
    ]
  }

  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    try list.encodeNil()
    try list.encode(Int(signed[0]))
    try list.encode(Int8(signed[1]))
    try list.encode(Int16(signed[2]))
    try list.encode(Int32(signed[3]))
    try list.encode(Int64(signed[4]))
    try list.encode(signed[5])
    try list.encode(UInt(unsigned[0]))
    try list.encode(UInt8(unsigned[1]))
    try list.encode(UInt16(unsigned[2]))
    try list.encode(UInt32(unsigned[3]))
    try list.encode(UInt64(unsigned[4]))
    try list.encode(unsigned[5])
  }
}

/// A structure with a member of each kind of integer.
private struct IntegerMembers: Codable, Equatable {
  var a = -1
  var b: Int8 = -2
  var c: Int16 = -3
  var d: Int32 = -4
  var e: Int64 = -5
  var f: Int128 = -6
  var g: UInt = 1
  var h: UInt8 = 2
  var i: UInt16 = 3
  var j: UInt32 = 4
  var k: UInt64 = 5
  var l: UInt128 = 6
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

  @Test func `each kind of integer decodes as a scalar, a member, and an element`() throws {
    func isKept<Value: FixedWidthInteger & Codable & Sendable>(_ value: Value) throws -> Bool {
      let flat = try FlatState(value)
      return try flat.values.count == 1 && flat.decode(Value.self) == value
    }

    #expect(try isKept(-1) && isKept(Int8(-2)) && isKept(Int16(-3)))
    #expect(try isKept(Int32(-4)) && isKept(Int64(-5)) && isKept(Int128(-6)))
    #expect(try isKept(UInt(1)) && isKept(UInt8(2)) && isKept(UInt16(3)))
    #expect(try isKept(UInt32(4)) && isKept(UInt64(5)) && isKept(UInt128(6)))
    #expect(try FlatState(IntegerMembers()).values.count == 12)
    #expect(try FlatState(IntegerMembers()).decode() == IntegerMembers())
    #expect(try FlatState(Integers()).values["0"] == .null)
    #expect(try FlatState(Integers()).values["12"] == .int(6))
    #expect(try FlatState(Integers()).decode() == Integers())
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
