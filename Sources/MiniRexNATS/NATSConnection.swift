#if NATS
internal import Dispatch
public import MiniRex

/// A connection to a NATS server, or to one server of a cluster.
///
/// ```swift
/// let nats = NATSConnection("nats://127.0.0.1:4222")
/// let subscription = nats.broadcaster(of: Order.self, on: "orders.*").subscribe { message in
///   print(message.subject, message.payload)
/// }
/// try nats.publish(Order(4711), on: "orders.placed")
/// ```
///
/// It connects in the background, and reconnects whenever the connection is lost. No method blocks
/// on the network: publishes and subscriptions made while disconnected are queued. Retain the
/// connection. Releasing it closes it as ``close()`` does, without waiting.
public final class NATSConnection: Sendable {
  let core: ConnectionCore

  /// The status of the connection.
  ///
  /// It finishes when the connection is closed.
  ///
  /// Callbacks run on a queue of the connection.
  public var status: PublishedValue<NATSStatus> { core.status.publisher }

  /// The asynchronous errors that no pending call can report.
  ///
  /// It finishes when the connection is closed.
  ///
  /// Callbacks run on a queue of the connection.
  public var diagnostics: Broadcaster<NATSDiagnostic> { core.diagnostics.publisher }

  /// The version of the server, for example `2.9.10`, or `nil` before the first connection.
  ///
  /// After a lost connection it is the version of the lost server, until another server has answered.
  public var serverVersion: String? { core.serverVersion }

  /// A Boolean value that indicates whether the connection is established.
  ///
  /// No callback of a user delays it, and its callbacks must not run user code.
  package var isConnected: PublishedValue<Bool> { core.isConnected.publisher }

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - url: A URL such as `nats://127.0.0.1:4222` or `tls://…`, or several, separated by commas.
  ///     It may contain a user and a password, percent-encoded. With `tls://`, a server without TLS
  ///     is refused before credentials are sent. Another scheme, or text that is not a URL, closes
  ///     the connection with ``NATSError/invalidOptions(_:)``.
  ///   - options: The limits, intervals, and credentials. The default is `NATSOptions()`.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public convenience init(
    _ url: String, options: NATSOptions = NATSOptions(), fileID: String = #fileID,
    line: Int = #line
  ) {
    self.init([url], options: options, fileID: fileID, line: line)
  }

  /// Connects to one server of a cluster, and to another when that connection is lost.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the servers. Traps if there is none.
  ///   - options: The limits, intervals, and credentials. The default is `NATSOptions()`.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public init(
    _ urls: [String], options: NATSOptions = NATSOptions(), fileID: String = #fileID,
    line: Int = #line
  ) {
    if urls.isEmpty { misuse("'NATSConnection' requires at least one server URL.") }
    core = ConnectionCore(urls, options, name: options.name ?? "NATS", fileID: fileID, line: line)
    core.start()
  }

  deinit { core.close() }

  /// Closes the connection, and returns when it is closed.
  ///
  /// Received messages are delivered and published messages are sent first, each within
  /// ``NATSOptions/drainTimeout``. Then all publishers of the connection finish. Without a
  /// connection, queued messages are not sent, and ``diagnostics`` reports them. The method is
  /// idempotent. In a canceled task it returns without waiting.
  public func close() async {
    core.close()
    _ = await core.hasClosed.publisher.result
  }
}
#endif
