#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How values of one type become payloads, chosen once for each publisher.
struct Codec<Value: Codable & Sendable>: Sendable {
  let decode: @Sendable (UnsafeRawBufferPointer) throws(NATSError) -> Value

  init() {
    if Value.self == Data.self {
      decode = { bytes in same(Data(bytes)) }
    } else if Value.self == String.self {
      decode = { bytes throws(NATSError) in
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw .undecodable("It is not UTF-8.")
        }
        return same(text)
      }
    } else if let type = Value.self as? any NATSPayload.Type {
      decode = { bytes throws(NATSError) in
        do {
          return same(try type.init(natsPayload: Data(bytes)))
        } catch {
          throw .undecodable("\(error)")
        }
      }
    } else {
      decode = { bytes throws(NATSError) in
        do {
          return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch {
          throw .undecodable("\(error)")
        }
      }
    }
  }

  /// Gives the bytes of a value to `body`.
  ///
  /// It returns nothing: each type that it might return would be looked up at run time, with each call.
  static func encode(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws(NATSError) -> Void
  ) throws(NATSError) {
    var failure: NATSError?
    func give(_ bytes: UnsafeRawBufferPointer) {
      do throws(NATSError) {
        try body(bytes)
      } catch {
        failure = error
      }
    }
    if Value.self == String.self, var text = value as? String {
      text.withUTF8 { give(UnsafeRawBufferPointer($0)) }
    } else {
      try data(of: value).withUnsafeBytes { give($0) }
    }
    if let failure { throw failure }
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
private func same<From, To>(_ value: From) -> To {
  guard let value = value as? To else { misuse("\(From.self) is not \(To.self).") }
  return value
}
