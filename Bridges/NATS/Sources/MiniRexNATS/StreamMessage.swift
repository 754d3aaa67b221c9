#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What stands in a stream.
public struct StreamMessage<Payload: Sendable>: Sendable {
  /// What was appended.
  public var payload: Payload
  /// The subject that it was published on.
  public var subject: String
  /// What came with it.
  public var headers: NATSHeaders
  /// Its place in the stream; the next one is greater.
  public var sequence: UInt64
  /// When the server took it.
  public var date: Date
  /// How many messages came after it, when it was sent from there; 0 for the last one.
  public var pending: UInt64
  /// The sequences before this one that the stream does not have any more, because they were
  /// removed or went by its limits; `nil` if nothing is missing.
  ///
  /// Where only some subjects are read, others' messages are not missing, and it is always `nil`.
  public var missing: Range<UInt64>?
}

extension StreamMessage: Equatable where Payload: Equatable {}

/// Where the reading of a stream begins.
public enum StreamPosition: Sendable, Hashable {
  /// With the first message that it has.
  case beginning
  /// With the message of that sequence, or the first one after it.
  case sequence(UInt64)
  /// With the first message that was appended then or later.
  case date(Date)
  /// With the last message that it has.
  case last
  /// With the next one.
  case new
}
