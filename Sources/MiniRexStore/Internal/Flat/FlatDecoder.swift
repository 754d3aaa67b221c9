/// A value of a flattened state, with its children by key.
final class FlatNode {
  private(set) var value: FlatValue?
  private(set) var children: [String: FlatNode] = [:]

  private init() {}

  init(_ entries: [FlatEntry]) {
    for entry in entries {
      var node = self
      // A top-level scalar has the empty path.
      if !entry.path.isEmpty {
        for key in entry.path.split(separator: "/", omittingEmptySubsequences: false) {
          node = node.child(FlatKey(escaped: key, isPlace: false).stringValue)
        }
      }
      node.value = entry.value
    }
  }

  private func child(_ key: String) -> FlatNode {
    if let child = children[key] { return child }
    let child = FlatNode()
    children[key] = child
    return child
  }

  var isNull: Bool { value == .null }
}

/// Decodes a value of a flattened state.
///
/// Paths do not distinguish arrays from objects with numbers as keys. The decoded type does.
struct FlatDecoder: Decoder {
  let node: FlatNode
  let codingPath: [any CodingKey]

  init(_ node: FlatNode, at codingPath: [any CodingKey] = []) {
    self.node = node
    self.codingPath = codingPath
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard !node.children.isEmpty || node.value == .emptyObject else { throw mismatch(type) }
    return KeyedDecodingContainer(FlatKeyedDecodingContainer(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard !node.children.isEmpty || node.value == .emptyArray else { throw mismatch([Any].self) }
    return FlatUnkeyedDecodingContainer(decoder: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    FlatScalarDecodingContainer(decoder: self)
  }

  func bool() throws -> Bool {
    guard case .bool(let value) = node.value else { throw mismatch(Bool.self) }
    return value
  }

  func string() throws -> String {
    guard case .string(let value) = node.value else { throw mismatch(String.self) }
    return value
  }

  func double() throws -> Double {
    switch node.value {
    case .double(let value): value
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    default: throw mismatch(Double.self)
    }
  }

  func float() throws -> Float { Float(try double()) }

  func integer<Value: FixedWidthInteger>() throws -> Value {
    let value: Value? =
      switch node.value {
      case .int(let value): Value(exactly: value)
      case .uint(let value): Value(exactly: value)
      default: throw mismatch(Value.self)
      }
    guard let value else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "The number does not fit \(Value.self)."))
    }
    return value
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let found = node.value.map { "\($0)" } ?? (node.children.isEmpty ? "nothing" : "a container")
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "Found \(found) instead of \(type).")
    return node.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}
