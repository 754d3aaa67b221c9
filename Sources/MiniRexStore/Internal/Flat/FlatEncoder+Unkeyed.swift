/// The elements of an array.
struct FlatUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: FlatEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  var count: Int { encoder.count }

  func encodeNil() { encoder.writeElement(.null) }

  func encode(_ value: Bool) { encoder.writeElement(.bool(value)) }
  func encode(_ value: String) { encoder.writeElement(.string(value)) }
  func encode(_ value: Double) { encoder.writeElement(.double(value)) }
  func encode(_ value: Float) { encoder.writeElement(.double(Double(value))) }
  func encode(_ value: Int) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: Int8) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: Int16) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: Int32) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: Int64) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt8) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt16) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt32) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt64) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: Int128) throws { try encoder.writeElement(FlatValue(value)) }
  func encode(_ value: UInt128) throws { try encoder.writeElement(FlatValue(value)) }

  func encode<T: Encodable>(_ value: T) throws { try encoder.encodeElement(value) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.nestedElement().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    encoder.nestedElement().unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.nestedElement() }
}
