#if NATS
/// An asynchronous error that no pending call can report.
public enum NATSDiagnostic: Hashable, Sendable {
  /// A subscriber was too slow for its limits, and messages of the subject were dropped.
  ///
  /// `count` is the number since the previous diagnostic of this subscription, and `total` the
  /// number in all.
  case dropped(subject: String, count: Int, total: Int)
  /// A message could not be decoded and was skipped.
  case undecodable(subject: String, reason: String)
  /// A line of the headers was not a header.
  ///
  /// The message is delivered with its payload and the headers that could be read.
  case unreadableHeaders(subject: String, reason: String)
  /// The connection was lost before the server confirmed this many published messages.
  ///
  /// The server may have received some of them. Requests are not counted: they fail on their own.
  case possiblyLost(count: Int)
  /// The server refused to let the connection publish or subscribe to the subject.
  case notPermitted(subject: String, message: String)
  /// An accepted message was not sent.
  case notSent(subject: String, NATSError)
  /// The subscription to the subject failed.
  case notSubscribed(subject: String, NATSError)
  /// A stream or a bucket could not be read.
  ///
  /// The connection tries again.
  case notRead(stream: String, NATSError)
  /// A stream or a bucket was removed and created again, and is read from its beginning.
  case replaced(stream: String)
  /// A replica skipped sequences that were removed from the middle of the stream.
  case removed(stream: String, Range<UInt64>)
  /// A stream or a bucket returned to an earlier state, for example because its files were
  /// restored.
  ///
  /// The stream now ends at `to`. Readers continue with the messages that are appended from then
  /// on, and buckets have the values of the earlier state.
  case rolledBack(stream: String, to: UInt64)
  /// The durable consumer of `work` was removed and created again, alone or with its stream.
  ///
  /// All messages of the stream are delivered again. Acknowledgments of earlier deliveries are not
  /// sent.
  case workRestarted(stream: String, durable: String)
  /// The connection failed, or an attempt to connect did.
  case connection(NATSError)
}
#endif
