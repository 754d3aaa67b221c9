#if !NATS
/// Unavailable without the trait `NATS` of the package.
@available(
  *, unavailable,
  message: """
    Enable the trait in your manifest: .package(url: …, from: …, traits: ["NATS"])
    """
)
public final class NATSConnection {
  /// Unavailable without the trait `NATS` of the package.
  public init(_ url: String) {}
}
#endif
