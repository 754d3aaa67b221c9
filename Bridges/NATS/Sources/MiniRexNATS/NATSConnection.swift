internal import Dispatch
public import MiniRex

/// A connection to a NATS server, or to one of several.
///
/// ```swift
/// let nats = NATSConnection("nats://127.0.0.1:4222")
/// let subscription = nats.broadcaster(of: Order.self, on: "orders.*").subscribe { message in
///   print(message.subject, message.payload)
/// }
/// try nats.publish(Order(4711), on: "orders.placed")
/// ```
///
/// It connects in the background, and again whenever it is lost; nothing here ever waits for the
/// network. What is published and subscribed to before it is connected is done when it is. Keep it:
/// when it is released it closes like ``close()``, without waiting.
public final class NATSConnection: Sendable {
  let link: Link

  /// What it does at present; ends when it is closed.
  ///
  /// It calls on a queue of the connection's own.
  public var status: PublishedValue<NATSStatus> { link.status.publisher }

  /// What goes wrong without anybody waiting for it; ends when the connection is closed.
  ///
  /// It calls on a queue of the connection's own.
  public var troubles: Broadcaster<NATSTrouble> { link.troubles.publisher }

  /// Connects to one server.
  ///
  /// - Parameters:
  ///   - url: Such as `nats://127.0.0.1:4222` or `tls://…`; it may hold a user and a password.
  ///   - options: How it behaves.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public convenience init(
    _ url: String, options: NATSOptions = NATSOptions(), fileID: String = #fileID,
    line: Int = #line
  ) {
    self.init([url], options: options, fileID: fileID, line: line)
  }

  /// Connects to any one server of a cluster, and to another one when that is lost.
  ///
  /// - Parameters:
  ///   - urls: At least one; none stops the program.
  ///   - options: How it behaves.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public init(
    _ urls: [String], options: NATSOptions = NATSOptions(), fileID: String = #fileID,
    line: Int = #line
  ) {
    if urls.isEmpty { misuse("'NATSConnection' needs the URL of a server.") }
    link = Link(urls, options, name: options.name ?? "NATS", fileID: fileID, line: line)
    link.start()
  }

  deinit { link.close() }

  /// Closes, and returns when it has.
  ///
  /// What was published is sent and what has been received is delivered, as far as that is done
  /// within ``NATSOptions/drainTimeout``; then all publishers of the connection end. What waits for a
  /// connection that there is not is not sent, which ``troubles`` tells. It can be called several
  /// times. A cancelled task does not wait.
  public func close() async {
    link.close()
    _ = await link.hasClosed.publisher.result
  }
}
