#if NATS
public import MiniRex

/// The counters of a connection, since it was created.
///
/// Messages include requests, answers, and messages of JetStream. Bytes are those of payloads and
/// headers.
public struct NATSStatistics: Hashable, Sendable {
  /// The number of received messages.
  public var messagesIn = 0
  /// The number of received bytes.
  public var bytesIn = 0
  /// The number of messages that were handed to libnats to send.
  public var messagesOut = 0
  /// The number of bytes that were handed to libnats to send.
  public var bytesOut = 0
  /// The number of times that a lost connection was established again.
  public var reconnects = 0
  /// The number of received messages that were dropped, as reported by
  /// ``NATSDiagnostic/dropped(subject:count:total:)``.
  public var dropped = 0
  /// The number of bytes queued for the server.
  public var queuedBytes = 0
  /// The time between the last measured PING and its answer, or `nil` before the first.
  public var roundTripTime: Duration?

  /// Creates counters of 0, for example for a test.
  public init() {}
}

extension NATSConnection {
  /// A Boolean value that indicates whether the connection is established and not about to close.
  ///
  /// It answers a readiness check: `nats.isReady.current() ?? false`.
  ///
  /// Callbacks run on a queue of the connection.
  public var isReady: PublishedValue<Bool> { status.map { $0 == .connected } }

  /// The counters of the connection.
  ///
  /// Reading them takes the locks of the connection and of libnats, and sends a PING within 100 ms.
  /// The next read returns its ``NATSStatistics/roundTripTime``.
  public var statistics: NATSStatistics { core.statistics }
}
#endif
