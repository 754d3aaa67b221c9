/// A value that is not `Encodable`, encoded by reflection.
///
/// Its `Encodable` children encode themselves. An object is encoded as its description only,
/// because it may refer to itself, and other threads may change it.
struct ReflectedState: Encodable {
  let value: Any
  var depth = 0

  /// Returns the value if it is `Encodable`; otherwise, its reflection.
  static func encodable(_ value: Any) -> any Encodable {
    (value as? any Encodable) ?? ReflectedState(value: value)
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    let mirror = Mirror(reflecting: value)
    switch depth < 16 ? mirror.displayStyle : nil {
    case .optional:
      guard let some = mirror.children.first?.value else {
        var container = encoder.singleValueContainer()
        return try container.encodeNil()
      }
      try inner(some).encode(to: encoder)
    case .collection, .set:
      var container = encoder.unkeyedContainer()
      for child in mirror.children { try container.encode(Boxed(inner(child.value))) }
    case .struct where !mirror.children.isEmpty, .tuple where !mirror.children.isEmpty,
      .enum where !mirror.children.isEmpty, .dictionary:
      var container = encoder.container(keyedBy: Key.self)
      for (index, child) in mirror.children.enumerated() {
        let key = Key(stringValue: child.label ?? "\(index)")
        try container.encode(Boxed(inner(child.value)), forKey: key)
      }
    default:
      var container = encoder.singleValueContainer()
      try container.encode(String(describing: value))
    }
  }

  private func inner(_ value: Any) -> any Encodable {
    (value as? any Encodable) ?? ReflectedState(value: value, depth: depth + 1)
  }
}

/// A box with one concrete type, because containers encode only concrete types.
private struct Boxed: Encodable {
  let value: any Encodable

  init(_ value: any Encodable) { self.value = value }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
