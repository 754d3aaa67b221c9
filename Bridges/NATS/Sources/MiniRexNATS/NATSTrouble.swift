/// Something that has gone wrong, and that nobody was waiting to hear of.
public enum NATSTrouble: Hashable, Sendable {
  /// A subscriber was too slow for its limits, and messages of the subject have been dropped.
  ///
  /// `count` is how many since this subscription was last told about, `total` how many in all.
  case dropped(subject: String, count: Int, total: Int)
  /// A message was not what was expected there, and has been left out.
  case undecodable(subject: String, reason: String)
  /// The server does not allow to publish or to subscribe to the subject.
  case notPermitted(subject: String, message: String)
  /// Something that was accepted to be sent was not.
  case notSent(subject: String, NATSError)
  /// There is no subscription to the subject.
  case notSubscribed(subject: String, NATSError)
  /// A stream, or a bucket, cannot be read at present; that is tried again.
  case notRead(stream: String, NATSError)
  /// A stream, or a bucket, was removed and made anew: it is read from its beginning.
  case replaced(stream: String)
  /// The connection itself has had trouble.
  case connection(NATSError)
}
