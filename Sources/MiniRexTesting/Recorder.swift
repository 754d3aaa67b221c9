public import MiniRex

/// Subscribes to a publisher and remembers what comes.
///
/// ```swift
/// let recorder = Recorder(source.publisher)
/// source.broadcast(1)
/// source.broadcast(2)
/// #expect(recorder.updates == [1, 2])
/// ```
///
/// It stays subscribed for as long as it lives.
public final class Recorder<Update: Sendable>: Sendable {
  private let log = RecorderLog<Update>()
  private let subscription: Subscription

  /// Subscribes at once.
  ///
  /// `react` is called with each update, inside the callback, once it is remembered.
  public init<Kind: PublisherKind>(
    _ publisher: Publisher<Update, Kind>,
    _ react: @escaping @Sendable (Update) -> Void = { _ in }, fileID: String = #fileID,
    line: Int = #line
  ) {
    let remember: @Sendable (Update) -> Void = { [log] update in
      log.append(update)
      react(update)
    }
    subscription = publisher.subscribe(
      remember, onEnd: { [log] in log.end() }, fileID: fileID, line: line)
  }

  /// All updates that have come, oldest first.
  public var updates: [Update] { log.updates }

  /// False once the source has ended the subscription, or you have.
  public var isSubscribed: Bool { subscription.isSubscribed }

  /// True once the source has ended the subscription; never after ``invalidate()``.
  public var hasEnded: Bool { log.hasEnded }

  /// Waits for the next updates, counting from the last call.
  ///
  /// - Returns: `count` updates; fewer only if the subscription has ended before they came; none if
  ///   the waiting task is cancelled. A negative `count` stops the program.
  public func next(_ count: Int = 1) async -> [Update] {
    await log.next(count)
  }

  /// Ends the subscription; what was remembered stays.
  public func invalidate() {
    subscription.invalidate()
    log.close()
  }
}
