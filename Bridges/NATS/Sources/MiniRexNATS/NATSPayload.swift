#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that says itself what it is in a message.
///
/// `Data` and `String` do, and are sent as they are. What is `Codable` only is sent as JSON. With
/// this protocol a type chooses another coding:
///
/// ```swift
/// extension Reading: NATSPayload {
///   init(natsPayload: Data) throws { try self.init(serializedBytes: natsPayload) }
///   func natsPayload() throws -> Data { try serializedBytes() }
/// }
/// ```
///
/// A type that is not `Codable` by itself becomes so by this: as data, inside of others.
public protocol NATSPayload: Codable, Sendable {
  /// Reads a value; an error is told on ``NATSConnection/troubles``, or fails a request.
  init(natsPayload: Data) throws

  /// Writes the value; an error is thrown by what was to send it.
  func natsPayload() throws -> Data
}

extension NATSPayload {
  /// Reads the payload as data.
  public init(from decoder: any Decoder) throws {
    try self.init(natsPayload: decoder.singleValueContainer().decode(Data.self))
  }

  /// Writes the payload as data.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(natsPayload())
  }
}
