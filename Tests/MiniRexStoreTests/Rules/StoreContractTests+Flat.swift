import Foundation
import MiniRexStore
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S33 FlatState gives each scalar a path of its keys`() throws {
    let flat = try FlatState(
      Shelf(
        name: "a/b", todos: [Todo(1, "x"), Todo(2, "y")], tags: ["m~n/o": 1, "": 2, "~1": 3]))

    #expect(
      flat.values == [
        "name": .string("a/b"), "todos/0/id": .int(1), "todos/0/text": .string("x"),
        "todos/1/id": .int(2), "todos/1/text": .string("y"), "tags/m~0n~1o": .int(1),
        "tags/": .int(2), "tags/~01": .int(3),
      ])
    #expect(try FlatState("whole").values == ["": .string("whole")])
  }

  @Test func `S33 nil is omitted, while nulls in arrays and empty containers are values`() throws {
    let flat = try FlatState(
      Holes(
        nothing: nil, some: 1, list: [nil, 1], none: [], blank: [:], inner: [[], [nil]],
        table: ["a": nil, "b": 2], only: ["a": nil]))

    #expect(
      flat.values == [
        "some": .int(1), "list/0": .null, "list/1": .int(1), "none": .emptyArray,
        "blank": .emptyObject, "inner/0": .emptyArray, "inner/1/0": .null, "table/b": .int(2),
        "only": .emptyObject,
      ])
    #expect(try FlatState([Int]()).values == ["": .emptyArray])
    #expect(try FlatState(Int?.none).values == ["": .null])
    #expect(try FlatState([Nothing()]).values == ["0": .emptyObject])
  }

  @Test func `S33 kinds of scalars are distinct, and integers are exact`() throws {
    let flat = try FlatState(Numbers())
    #expect(
      flat.values == [
        "yes": .bool(true), "one": .int(1), "byte": .int(1), "fraction": .double(1),
        "large": .int(.max), "small": .int(.min), "larger": .uint(.max), "none": .double(.nan),
        "wide": .int(-1),
      ])
    #expect(flat == (try FlatState(Numbers())) && FlatValue.bool(true) != .int(1))
    #expect(FlatValue.int(1) != .double(1) && FlatValue.int(1) == .uint(1))
    #expect(FlatValue.int(-1) != .uint(.max) && FlatValue.uint(.max) != .int(-1))
    let equal: [(FlatValue, FlatValue)] = [
      (.int(1), .uint(1)), (.double(.nan), .double(-.nan)), (.double(0), .double(-0.0)),
    ]
    for (one, other) in equal { #expect(one == other && Set([one, other]).count == 1) }
    let all: [FlatValue] = [
      .null, .emptyArray, .emptyObject, .bool(false), .int(0), .uint(.max), .double(0), .string(""),
    ]
    #expect(Set(all).count == all.count)
  }

  @Test func `S33 a value that encodes nothing or fails to encode throws`() {
    #expect(throws: CancellationError.self) { try FlatState([Refusing()]) }
    #expect(throws: EncodingError.self) { try FlatState(Nothing()) }
    #expect(throws: EncodingError.self) { try FlatState([Int128.max]) }
  }

  @Test func `S33 nested and super encoders write to their paths`() throws {
    #expect(
      try FlatState(Dog()).values == [
        "name": .string("Rex"), "owner/x": .int(1), "owner/y": .emptyArray, "late/0": .int(2),
        "super/age": .int(3), "path": .string("2:owner/1"), "blank": .emptyObject,
      ])
  }

  @Test func `S33 encoders provide the coding path`() throws {
    #expect(
      try FlatState(["a~1/~0b": [Where()]]).values == [
        "a~01~1~00b/0": .string("a~1/~0b|0#")
      ])
  }

  @Test func `S33 descriptions are sorted by path`() throws {
    let flat = try FlatState(["b": 1.5, "c": -.infinity, "a": .nan])
    #expect("\(flat)" == "a: \"NaN\", b: 1.5, c: \"-Infinity\"")
    #expect("\(try FlatState(["a\"\\\n\u{1}é": true]))" == "a\"\\\n\u{1}é: true")
    #expect("\(FlatValue.string("\"\\\n\r\t\u{1}é"))" == #""\"\\\n\r\t\u0001é""#)
  }

  @Test func `S33 states are compared by path, whatever their shape`() throws {
    let (one, other) = (try FlatState(Pair(isTurned: false)), try FlatState(Pair(isTurned: true)))
    #expect(one == other && one.hashValue == other.hashValue)
    #expect(one.changes(since: other).isEmpty)
    #expect(
      try FlatState(["a": 1, "c": 3]).changes(since: FlatState(["a": 2, "b": 4])) == [
        "a": .changed(from: .int(2), to: .int(1)), "b": .removed(.int(4)), "c": .added(.int(3)),
      ])
  }

  @Test func `S33 10,000 random trees and their changes match a model`() throws {
    var random = SeededGenerator(seed: 33)
    var last = try FlatState(0)
    var lastModel: [String: FlatValue] = ["": .int(0)]
    for _ in 0..<10_000 {
      let tree = Tree.random(depth: 4, &random)
      let (flat, model) = (try FlatState(tree), tree.flat)
      #expect(flat.values == model)
      var restored = lastModel
      for (path, change) in flat.changes(since: last) { restored[path] = change.value }
      #expect(restored == model)
      (last, lastModel) = (flat, model)
    }
  }
}

private struct Shelf: Encodable {
  let name: String
  let todos: Rows<Todo>
  let tags: [String: Int]
}

private struct Holes: Encodable {
  let nothing: Int?
  let some: Int?
  let list: [Int?]
  let none: [Int]
  let blank: [String: Int]
  let inner: [[Int?]]
  let table: [String: Int?]
  let only: [String: Int?]
}

private struct Numbers: Encodable {
  let yes = true
  let one = 1
  let byte: UInt8 = 1
  let fraction: Float = 1
  let large = Int64.max
  let small = Int64.min
  let larger = UInt64.max
  let none = Double.nan
  let wide: Int128 = -1
}

private struct Nothing: Encodable {
  func encode(to encoder: any Encoder) {}
}

/// Encodes the keys of its coding path.
///
/// Indexes have a sign.
private struct Where: Encodable {
  func encode(to encoder: any Encoder) throws {
    let keys = encoder.codingPath.map { $0.stringValue + ($0.intValue == nil ? "" : "#") }
    try keys.joined(separator: "|").encode(to: encoder)
  }
}

private struct Refusing: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Dog.Key.self)
    _ = container.nestedContainer(keyedBy: Dog.Key.self, forKey: .owner)
    throw CancellationError()
  }
}

private struct Pair: Encodable {
  let isTurned: Bool
  enum Key: CodingKey { case a, b }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for key in isTurned ? [Key.b, .a] : [.a, .b] { try container.encode(1, forKey: key) }
  }
}

private class Animal: Encodable {
  enum Key: CodingKey { case name, age }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(3, forKey: .age)
  }
}

/// Fills nested containers alternately, and leaves one empty.
private final class Dog: Animal {
  enum Key: CodingKey { case name, owner, late, x, y, path, blank, absent }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    var owner = container.nestedContainer(keyedBy: Key.self, forKey: .owner)
    var late = container.nestedUnkeyedContainer(forKey: .late)
    _ = container.nestedContainer(keyedBy: Key.self, forKey: .blank)
    try container.encode("Rex", forKey: .name)
    try owner.encode(1, forKey: .x)
    try late.encode(2)
    let y = owner.nestedUnkeyedContainer(forKey: .y)
    try container.encodeNil(forKey: .absent)
    let path = owner.codingPath.map(\.stringValue) + ["\(late.count)"]
    try container.encode("\(y.codingPath.count):\(path.joined(separator: "/"))", forKey: .path)
    try super.encode(to: container.superEncoder())
  }
}

/// A JSON value.
private indirect enum Tree: Encodable {
  case value(FlatValue)
  case array([Tree])
  case object([(String, Tree)])

  static func random(depth: Int, _ random: inout SeededGenerator) -> Tree {
    switch Int.random(in: 0..<(depth == 0 ? 4 : 8), using: &random) {
    case 0: return .value(.int(.random(in: 0..<3, using: &random)))
    case 1: return .value(.bool(.random(using: &random)))
    case 2: return .value(.string(["", "a/b", "~", "é"].randomElement(using: &random) ?? ""))
    case 3: return .value(.double(0.5))
    case 4, 5:
      return .array(
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          Tree.random(depth: depth - 1, &random)
        })
    default:
      return .object(
        ["a", "b/c", "~d", ""].shuffled(using: &random).dropLast(.random(in: 0...4, using: &random))
          .map { ($0, Tree.random(depth: depth - 1, &random)) })
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .value(.int(let value)): try value.encode(to: encoder)
    case .value(.bool(let value)): try value.encode(to: encoder)
    case .value(.string(let value)): try value.encode(to: encoder)
    case .value(.double(let value)): try value.encode(to: encoder)
    case .value: break
    case .array(let trees): try trees.encode(to: encoder)
    case .object(let members):
      var container = encoder.container(keyedBy: Name.self)
      for (name, tree) in members { try container.encode(tree, forKey: Name(stringValue: name)) }
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  var flat: [String: FlatValue] {
    var values: [String: FlatValue] = [:]
    func add(_ tree: Tree, at path: [String]) {
      switch tree {
      case .value(let value): values[path.joined(separator: "/")] = value
      case .array(let trees) where trees.isEmpty: values[path.joined(separator: "/")] = .emptyArray
      case .object(let trees) where trees.isEmpty:
        values[path.joined(separator: "/")] = .emptyObject
      case .array(let trees):
        for (place, tree) in trees.enumerated() { add(tree, at: path + ["\(place)"]) }
      case .object(let members):
        for (name, tree) in members {
          let name = name.replacing("~", with: "~0").replacing("/", with: "~1")
          add(tree, at: path + [name])
        }
      }
    }
    add(self, at: [])
    return values
  }
}
