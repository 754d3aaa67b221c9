#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Returns whether the JSON of a value can have at most this number of bytes.
///
/// It stops at the first byte beyond, so the time does not depend on the size of the value. It counts the least that each
/// part takes, so it returns `true` for each shorter JSON.
func hasJSON(of value: some Encodable, upTo count: Int) -> Bool {
  let budget = SizeBudget(count)
  // An error of the value itself is reported when it is encoded.
  try? SizeEncoder(budget: budget).take(value)
  return budget.rest >= 0
}

/// The bytes that a value may still take.
///
/// One encoding uses it serially.
private final class SizeBudget {
  private(set) var rest: Int

  init(_ count: Int) { rest = count }

  struct IsSpent: Error {}

  func take(_ count: Int) throws {
    rest -= count
    if rest < 0 { throw IsSpent() }
  }
}

/// An encoder that counts bytes, and throws at the first byte beyond its budget.
private struct SizeEncoder: Encoder {
  let budget: SizeBudget

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Members(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Elements(encoder: self) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Scalar(encoder: self) }

  /// Counts a value as `JSONEncoder` writes it.
  func take(_ value: some Encodable) throws {
    switch value {
    case let text as String: try budget.take(text.utf8.count + 2)
    case is any Numeric, is Date: try budget.take(1)
    case is Bool: try budget.take(4)
    case let data as Data: try budget.take(data.count * 4 / 3 + 2)
    case let url as URL: try budget.take(url.absoluteString.utf8.count + 2)
    default: try value.encode(to: self)
    }
  }

  func take(_ key: some CodingKey) throws { try budget.take(key.stringValue.utf8.count + 3) }

  private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SizeEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {
      try encoder.take(key)
      try encoder.budget.take(4)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      try encoder.take(key)
      try encoder.take(value)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    { encoder.container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      encoder.unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder }
  }

  private struct Elements: UnkeyedEncodingContainer {
    let encoder: SizeEncoder
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(encoder: SizeEncoder) { self.encoder = encoder }

    mutating func encodeNil() throws {
      count += 1
      try encoder.budget.take(5)
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
      count += 1
      // A bracket or a comma.
      try encoder.budget.take(1)
      try encoder.take(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type)
      -> KeyedEncodingContainer<Nested>
    {
      count += 1
      return encoder.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      count += 1
      return encoder.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
      count += 1
      return encoder
    }
  }

  private struct Scalar: SingleValueEncodingContainer {
    let encoder: SizeEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { try encoder.budget.take(4) }

    func encode<Value: Encodable>(_ value: Value) throws { try encoder.take(value) }
  }
}
