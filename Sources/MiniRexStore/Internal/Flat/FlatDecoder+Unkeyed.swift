/// The elements of an array.
struct FlatUnkeyedDecodingContainer: UnkeyedDecodingContainer {
  let decoder: FlatDecoder
  private(set) var currentIndex = 0

  init(decoder: FlatDecoder) { self.decoder = decoder }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var count: Int? { decoder.node.children.count }

  var isAtEnd: Bool { decoder.node.children["\(currentIndex)"] == nil }

  mutating func decodeNil() throws -> Bool {
    guard try next().node.isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_: Bool.Type) throws -> Bool { try element { try $0.bool() } }
  mutating func decode(_: String.Type) throws -> String { try element { try $0.string() } }
  mutating func decode(_: Double.Type) throws -> Double { try element { try $0.double() } }
  mutating func decode(_: Float.Type) throws -> Float { try element { try $0.float() } }
  mutating func decode(_: Int.Type) throws -> Int { try element { try $0.integer() } }
  mutating func decode(_: Int8.Type) throws -> Int8 { try element { try $0.integer() } }
  mutating func decode(_: Int16.Type) throws -> Int16 { try element { try $0.integer() } }
  mutating func decode(_: Int32.Type) throws -> Int32 { try element { try $0.integer() } }
  mutating func decode(_: Int64.Type) throws -> Int64 { try element { try $0.integer() } }
  mutating func decode(_: Int128.Type) throws -> Int128 { try element { try $0.integer() } }
  mutating func decode(_: UInt.Type) throws -> UInt { try element { try $0.integer() } }
  mutating func decode(_: UInt8.Type) throws -> UInt8 { try element { try $0.integer() } }
  mutating func decode(_: UInt16.Type) throws -> UInt16 { try element { try $0.integer() } }
  mutating func decode(_: UInt32.Type) throws -> UInt32 { try element { try $0.integer() } }
  mutating func decode(_: UInt64.Type) throws -> UInt64 { try element { try $0.integer() } }
  mutating func decode(_: UInt128.Type) throws -> UInt128 { try element { try $0.integer() } }

  mutating func decode<T: Decodable>(_: T.Type) throws -> T { try element { try T(from: $0) } }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try element { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try element { $0 } }

  /// An element that fails to decode is not skipped.
  private mutating func element<T>(_ decode: (FlatDecoder) throws -> T) throws -> T {
    let value = try decode(next())
    currentIndex += 1
    return value
  }

  private func next() throws -> FlatDecoder {
    let path = codingPath + [FlatKey(intValue: currentIndex)]
    guard let child = decoder.node.children["\(currentIndex)"] else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "The array has no further element."))
    }
    return FlatDecoder(child, at: path)
  }
}
