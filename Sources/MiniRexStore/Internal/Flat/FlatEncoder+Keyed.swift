/// The members of an object.
struct FlatKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: FlatEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Omits `nil`.
  func encodeNil(forKey key: Key) {}

  func encode(_ value: Bool, forKey key: Key) { encoder.writeMember(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) { encoder.writeMember(.string(value), key) }
  func encode(_ value: Double, forKey key: Key) { encoder.writeMember(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) { encoder.writeMember(.double(Double(value)), key) }
  func encode(_ value: Int, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: Int8, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: Int16, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: Int32, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: Int64, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt8, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt16, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt32, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt64, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: Int128, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }
  func encode(_ value: UInt128, forKey key: Key) throws {
    try encoder.writeMember(FlatValue(value), key)
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try encoder.encodeMember(value, key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.nestedMember(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.nestedMember(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.nestedMember(FlatKey(stringValue: "super")) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder.nestedMember(key) }
}
