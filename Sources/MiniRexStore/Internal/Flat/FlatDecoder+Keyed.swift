/// The members of an object.
struct FlatKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: FlatDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] { decoder.node.children.keys.sorted().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { decoder.node.children[key.stringValue] != nil }

  func decodeNil(forKey key: Key) -> Bool { decoder.node.children[key.stringValue]?.isNull ?? true }

  func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try member(key).bool() }
  func decode(_: String.Type, forKey key: Key) throws -> String { try member(key).string() }
  func decode(_: Double.Type, forKey key: Key) throws -> Double { try member(key).double() }
  func decode(_: Float.Type, forKey key: Key) throws -> Float { try member(key).float() }
  func decode(_: Int.Type, forKey key: Key) throws -> Int { try member(key).integer() }
  func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).integer() }
  func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).integer() }
  func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).integer() }
  func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).integer() }
  func decode(_: Int128.Type, forKey key: Key) throws -> Int128 { try member(key).integer() }
  func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try member(key).integer() }
  func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).integer() }
  func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).integer() }
  func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).integer() }
  func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).integer() }
  func decode(_: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(key).integer() }

  func decode<T: Decodable>(_: T.Type, forKey key: Key) throws -> T { try T(from: member(key)) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try member(FlatKey(stringValue: "super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func member(_ key: some CodingKey) throws -> FlatDecoder {
    guard let child = decoder.node.children[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "No path has this key."))
    }
    return FlatDecoder(child, at: codingPath + [key])
  }
}
