#if NATS
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A message of a stream.
public struct NATSStreamMessage<Payload: Sendable>: Sendable {
  /// The appended payload.
  public var payload: Payload
  /// The subject of the message.
  public var subject: String
  /// The headers of the message.
  public var headers: NATSHeaders
  /// The sequence of the message in the stream, greater than all sequences before it.
  public var sequence: UInt64
  /// The time at which the server stored the message.
  public var date: Date
  /// The number of messages behind this one in the stream when the server sent it, or 0 for the
  /// last.
  public var pending: UInt64
  /// The preceding sequences that the stream no longer has, or `nil` if none is missing.
  ///
  /// The messages were removed or expired. With a subject filter, messages on other subjects are
  /// not missing, and the value is always `nil`.
  public var missing: Range<UInt64>?
}

extension NATSStreamMessage: Equatable where Payload: Equatable {}

/// The position at which reading a stream starts.
public enum NATSStreamPosition: Sendable, Hashable {
  /// The first message in the stream.
  case beginning
  /// The message with this sequence, or the first message after it.
  case sequence(UInt64)
  /// The first message that was appended at this time or later.
  case date(Date)
  /// The last message in the stream.
  case last
  /// The next message.
  case new
}
#endif
