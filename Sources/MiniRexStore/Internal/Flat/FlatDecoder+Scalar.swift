/// A scalar, or a single nested value.
struct FlatScalarDecodingContainer: SingleValueDecodingContainer {
  let decoder: FlatDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.node.isNull }

  func decode(_: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_: String.Type) throws -> String { try decoder.string() }
  func decode(_: Double.Type) throws -> Double { try decoder.double() }
  func decode(_: Float.Type) throws -> Float { try decoder.float() }
  func decode(_: Int.Type) throws -> Int { try decoder.integer() }
  func decode(_: Int8.Type) throws -> Int8 { try decoder.integer() }
  func decode(_: Int16.Type) throws -> Int16 { try decoder.integer() }
  func decode(_: Int32.Type) throws -> Int32 { try decoder.integer() }
  func decode(_: Int64.Type) throws -> Int64 { try decoder.integer() }
  func decode(_: Int128.Type) throws -> Int128 { try decoder.integer() }
  func decode(_: UInt.Type) throws -> UInt { try decoder.integer() }
  func decode(_: UInt8.Type) throws -> UInt8 { try decoder.integer() }
  func decode(_: UInt16.Type) throws -> UInt16 { try decoder.integer() }
  func decode(_: UInt32.Type) throws -> UInt32 { try decoder.integer() }
  func decode(_: UInt64.Type) throws -> UInt64 { try decoder.integer() }
  func decode(_: UInt128.Type) throws -> UInt128 { try decoder.integer() }

  func decode<T: Decodable>(_: T.Type) throws -> T { try T(from: decoder) }
}
