#if NATS
internal import MiniRex
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The coding between values of one type and payloads.
///
/// The coding is selected per call: a stored closure would cost each subscription an allocation.
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
      return try JSON.decoder.decode(Value.self, from: data)
    } catch {
      throw .undecodable("\(error)")
    }
  }

  /// Passes the bytes of a value to `body`.
  ///
  /// It returns nothing: a generic result would need a metadata lookup at run time in each call.
  static func encode(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws(NATSError) -> Void
  ) throws(NATSError) {
    if Value.self == String.self, var text = value as? String {
      let result = text.withUTF8 { bytes in
        Result { () throws(NATSError) in try body(UnsafeRawBufferPointer(bytes)) }
      }
      try result.get()
    } else {
      // A span of the data would check for exclusive access in each call.
      let result = try data(of: value).withUnsafeBytes { bytes in
        Result { () throws(NATSError) in try body(bytes) }
      }
      try result.get()
    }
  }

  static func data(of value: Value) throws(NATSError) -> Data {
    if Value.self == Data.self, let data = value as? Data { return data }
    do {
      if Value.self == String.self, let text = value as? String { return Data(text.utf8) }
      if let value = value as? any NATSPayload { return try value.natsPayload() }
      return try JSON.encoder.encode(value)
    } catch {
      throw .notEncodable("\(error)")
    }
  }
}

/// JSON as clients in other languages expect it: dates are ISO 8601, and data is Base64.
private enum JSON {
  static let encoder = {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      guard let text = ISO8601.text(of: date) else {
        throw EncodingError.invalidValue(
          date,
          EncodingError.Context(
            codingPath: encoder.codingPath,
            debugDescription: "The date is outside the years 1 to 9999."))
      }
      try container.encode(text)
    }
    return encoder
  }()

  static let decoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      // Earlier versions wrote the seconds since 2001.
      if let seconds = try? container.decode(Double.self) {
        return Date(timeIntervalSinceReferenceDate: seconds)
      }
      guard let date = ISO8601.date(of: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "The date is not ISO 8601.")
      }
      return date
    }
    return decoder
  }()
}

/// Returns the value as a type that is known to be identical.
private func same<From, To>(_ value: consuming From) -> To {
  guard let value = value as? To else { misuse("\(From.self) is not \(To.self).") }
  return value
}
#endif
