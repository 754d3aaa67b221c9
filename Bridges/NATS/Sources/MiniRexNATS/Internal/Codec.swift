#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How values of one type become payloads.
///
/// Nothing is chosen before it is needed: a closure that was would be one more for each subscription.
enum Codec<Value: Codable & Sendable> {
  @inline(__always)
  static func decode(_ bytes: UnsafeRawBufferPointer) throws(NATSError) -> Value {
    if Value.self == Data.self {
      return same(bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data())
    }
    if Value.self == String.self {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .undecodable("It is not UTF-8.")
      }
      return same(text)
    }
    return try decode(Data(bytes))
  }

  private static func decode(_ data: Data) throws(NATSError) -> Value {
    do {
      if let type = Value.self as? any NATSPayload.Type {
        return same(try type.init(natsPayload: data))
      }
      return try JSONDecoder().decode(Value.self, from: data)
    } catch {
      throw .undecodable("\(error)")
    }
  }

  /// Gives the bytes of a value to `body`.
  ///
  /// It returns nothing: each type that it might return would be looked up at run time, with each call.
  static func encode(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws(NATSError) -> Void
  ) throws(NATSError) {
    if Value.self == String.self, var text = value as? String {
      let result = text.withUTF8 { bytes in
        Result { () throws(NATSError) in try body(UnsafeRawBufferPointer(bytes)) }
      }
      try result.get()
    } else {
      try data(of: value).bytes.withUnsafeBytes(body)
    }
  }

  static func data(of value: Value) throws(NATSError) -> Data {
    if Value.self == Data.self, let data = value as? Data { return data }
    do {
      if Value.self == String.self, let text = value as? String { return Data(text.utf8) }
      if let value = value as? any NATSPayload { return try value.natsPayload() }
      return try JSONEncoder().encode(value)
    } catch {
      throw .notEncodable("\(error)")
    }
  }
}

/// The same value, of a type that has been found to be the same.
private func same<From, To>(_ value: consuming From) -> To {
  guard let value = value as? To else { misuse("\(From.self) is not \(To.self).") }
  return value
}
