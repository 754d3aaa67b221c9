#if NATS
/// The status of a connection.
public enum NATSStatus: Hashable, Sendable {
  /// The first attempts to connect are in progress.
  case connecting
  /// The connection is established.
  case connected
  /// The connection was lost, and attempts to reconnect are in progress.
  case reconnecting
  /// The connection is about to close: it sends published messages and delivers received ones.
  case draining
  /// The connection is closed permanently.
  ///
  /// The error is `nil` if you closed it.
  case closed(NATSError?)
}
#endif
