/// A scalar, or a single nested value.
struct FlatScalarContainer: SingleValueEncodingContainer {
  let encoder: FlatEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.write(nil) }

  func encode(_ value: Bool) { encoder.write(.bool(value)) }
  func encode(_ value: String) { encoder.write(.string(value)) }
  func encode(_ value: Double) { encoder.write(.double(value)) }
  func encode(_ value: Float) { encoder.write(.double(Double(value))) }
  func encode(_ value: Int) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: Int8) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: Int16) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: Int32) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: Int64) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt8) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt16) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt32) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt64) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: Int128) throws { try encoder.write(FlatValue(value)) }
  func encode(_ value: UInt128) throws { try encoder.write(FlatValue(value)) }

  func encode<T: Encodable>(_ value: T) throws { try value.encode(to: encoder) }
}
