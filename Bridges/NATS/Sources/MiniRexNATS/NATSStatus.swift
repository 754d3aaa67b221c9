/// What a connection does at present.
public enum NATSStatus: Hashable, Sendable {
  /// It has not been connected yet, and is trying.
  case connecting
  /// It is connected.
  case connected
  /// It was connected, and is trying to be so again.
  case reconnecting
  /// It is sending what was published and delivering what was received, before it closes.
  case draining
  /// It is closed for good; the error is `nil` if you have closed it.
  case closed(NATSError?)
}
