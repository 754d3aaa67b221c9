#if NATS
public import MiniRex

extension NATSStream {
  /// Reads the time for which the server recognizes the `id` of a message.
  ///
  /// A message that is appended again after that time is in the stream twice.
  public func duplicateWindow() -> PublishedTask<Duration, NATSError> {
    core.streamInfo(id).map { .nanoseconds($0.config.duplicateWindow ?? 0) }
  }

  /// The sequence of the first message, or of the next message if the stream is empty, and the
  /// reason why the server may remove messages, or `nil`.
  package var retention: PublishedTask<(first: UInt64, removal: String?), NATSError> {
    core.streamInfo(id).map { (first: $0.state.firstSeq, removal: $0.config.removal) }
  }

  /// The sequence of the last message on the subject with the stream's name, or 0 without one.
  package var lastSequence: PublishedTask<UInt64, NATSError> {
    core.stored(.last(subject: name), in: id).map(\.seq).recover { error in
      error.isMissingMessage ? .success(0) : .failure(error)
    }
  }

  /// Emits a diagnostic of the connection.
  package func report(_ diagnostic: NATSDiagnostic) { core.report(diagnostic) }
}
#endif
