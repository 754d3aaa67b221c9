#if NATS
/// The stream or the bucket that a mirror copies.
///
/// ```swift
/// let near = nats.bucket("config-here", mirroring: NATSMirror(of: "config", domain: "hub"))
/// try await near.create().value
/// ```
///
/// The server copies each message, with its sequence, and reads from a mirror continue while the origin is
/// unreachable.
public struct NATSMirror: Hashable, Sendable {
  /// The name of the origin.
  public var name: String
  /// The JetStream domain of the origin, or `nil` for the domain of the mirror.
  public var domain: String?

  /// Creates the description of an origin.
  public init(of name: String, domain: String? = nil) {
    self.name = name
    self.domain = domain
  }
}
#endif
