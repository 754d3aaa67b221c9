#if NATS
public import MiniRex
public import MiniRexNATS

extension NATSStream {
  /// Creates the stream for replicas, or succeeds if it exists with these options.
  ///
  /// Its only subject is its name, unless `options` has subjects. It then stores no messages of
  /// other subjects.
  ///
  /// - Parameter options: The options of the stream, by default without limits. A replica refuses a
  ///   stream whose limits remove old messages. With the discard policy `.new`, a full stream keeps
  ///   actions pending.
  public func createForReplicas(
    _ options: NATSStreamOptions = NATSStreamOptions()
  ) -> PublishedTask<Void, NATSError> {
    var options = options
    options.subjects = options.subjects ?? [name]
    return create(options)
  }
}
#endif
