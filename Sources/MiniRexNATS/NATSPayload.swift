#if NATS
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type with its own encoding in messages.
///
/// `Data` and `String` need no conformance and are sent unchanged. Other `Codable` types are sent as
/// JSON. A conformance selects another encoding:
///
/// ```swift
/// extension Reading: NATSPayload {
///   init(natsPayload: Data) throws { try self.init(serializedBytes: natsPayload) }
///   func natsPayload() throws -> Data { try serializedBytes() }
/// }
/// ```
///
/// The conformance also makes the type `Codable`: inside other values it is encoded as data.
public protocol NATSPayload: Codable, Sendable {
  /// Creates a value from a payload.
  ///
  /// A thrown error is reported on ``NATSConnection/diagnostics``, or fails the request.
  init(natsPayload: Data) throws

  /// Returns the payload.
  ///
  /// A thrown error fails the send.
  func natsPayload() throws -> Data
}

extension NATSPayload {
  /// Creates a value from a payload that is encoded as data.
  public init(from decoder: any Decoder) throws {
    try self.init(natsPayload: decoder.singleValueContainer().decode(Data.self))
  }

  /// Encodes the payload as data.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(natsPayload())
  }
}
#endif
