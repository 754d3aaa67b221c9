#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The header and the payload of an entry, which a log stores unchanged.
public struct ReplicaMessage: Hashable, Sendable {
  /// The origin, the number of the first action, and the highest decided number, separated by spaces.
  ///
  /// An empty header is a message that no replica sent.
  public let header: String
  /// One line of JSON for each action, up to 64 KiB unless one action is larger.
  public let payload: Data

  /// Creates an entry from its stored parts.
  public init(header: String, payload: Data) {
    self.header = header
    self.payload = payload
  }
}
