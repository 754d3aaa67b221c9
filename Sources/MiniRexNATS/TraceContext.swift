#if NATS
/// The position of the current work in a distributed trace, as W3C Trace Context specifies it.
///
/// ```swift
/// try TraceContext.$current.withValue(.root()) { try nats.publish(order, on: "orders.placed") }
/// ```
///
/// With ``NATSOptions/propagation`` of `.w3c`, messages carry it to the processes that receive them.
public struct TraceContext: Hashable, Sendable {
  /// The context of the current task or callback, or `nil`, the default, outside of a trace.
  @TaskLocal public static var current: TraceContext?

  /// The trace, as 32 lowercase hexadecimal digits.
  public let traceID: String

  /// The operation that is the parent of the next, as 16 lowercase hexadecimal digits.
  public let parentID: String

  /// The flags of the trace.
  ///
  /// The lowest bit indicates that the trace is recorded.
  public let flags: UInt8

  /// Entries of tracing systems, as received, or `nil`.
  public let state: String?

  /// Creates the context of a new trace with random IDs.
  ///
  /// - Parameter isSampled: A Boolean value that indicates whether the trace is recorded. The default is
  ///   `true`.
  public static func root(isSampled: Bool = true) -> TraceContext {
    TraceContext(
      traceID: digits(.random(in: 1 ... .max)) + digits(.random(in: 0 ... .max)),
      flags: isSampled ? 1 : 0, state: nil)
  }

  /// Creates a context from the values of the headers `traceparent` and `tracestate`.
  ///
  /// Returns `nil` if `traceparent` is invalid.
  public init?(traceparent text: String, tracestate: String? = nil) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count >= 4, Self.isHex(fields[0], count: 2), fields[0] != "ff",
      Self.isHex(fields[1], count: 32), fields[1].contains(where: { $0 != "0" }),
      Self.isHex(fields[2], count: 16), fields[2].contains(where: { $0 != "0" }),
      Self.isHex(fields[3], count: 2), let flags = UInt8(fields[3], radix: 16),
      // Only a later version has further fields.
      fields.count == 4 || fields[0] != "00"
    else { return nil }
    traceID = String(fields[1])
    parentID = String(fields[2])
    self.flags = flags
    state = tracestate.flatMap { $0.isEmpty ? nil : $0 }
  }

  private init(traceID: String, flags: UInt8, state: String?) {
    (self.traceID, self.flags, self.state) = (traceID, flags, state)
    parentID = Self.digits(.random(in: 1 ... .max))
  }

  /// The value of the header `traceparent`.
  public var traceparent: String {
    let text = String(flags, radix: 16)
    return "00-\(traceID)-\(parentID)-\(text.utf8.count < 2 ? "0" : "")\(text)"
  }

  /// Returns the context of an operation in the same trace, with a new random parent ID.
  public func child() -> TraceContext {
    TraceContext(traceID: traceID, flags: flags, state: state)
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }

  private static func isHex(_ text: Substring, count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
#endif
