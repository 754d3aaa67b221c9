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
  let log = RecorderLog<Update>()
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
  /// If the waiting task is cancelled, as it is by the time limit of a test, it prints how many
  /// were awaited where, and what has come instead.
  ///
  /// - Returns: `count` updates; fewer only if the subscription has ended before they came, or the
  ///   waiting task is cancelled. A negative `count` stops the program.
  public func next(
    _ count: Int = 1, fileID: String = #fileID, line: Int = #line
  ) async -> [Update] {
    let updates = await log.next(count)
    if updates.count < count, Task.isCancelled, !log.isClosed {
      print("\(fileID):\(line): 'next(\(count))' was cancelled when this had come: \(updates)")
    }
    return updates
  }

  /// Ends the subscription; what was remembered stays.
  public func invalidate() {
    subscription.invalidate()
    log.close()
  }
}
