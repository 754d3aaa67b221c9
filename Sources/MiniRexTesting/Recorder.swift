public import MiniRex

/// A subscriber that stores all updates.
///
/// ```swift
/// let recorder = Recorder(source.publisher)
/// source.broadcast(1)
/// source.broadcast(2)
/// #expect(recorder.updates == [1, 2])
/// ```
///
/// The subscription is canceled when the recorder is released.
public final class Recorder<Update: Sendable>: Sendable {
  let log = RecorderLog<Update>()
  private let subscription: Subscription

  /// Creates a recorder, and subscribes synchronously.
  ///
  /// - Parameters:
  ///   - publisher: The publisher.
  ///   - react: Called in the callback with each update, after the update is stored. The default does
  ///     nothing.
  ///   - fileID: The file of the subscription, for instruments.
  ///   - line: The line of the subscription, for instruments.
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

  /// All received updates, oldest first.
  public var updates: [Update] { log.updates }

  /// A Boolean value that indicates whether the subscription is active.
  public var isSubscribed: Bool { subscription.isSubscribed }

  /// A Boolean value that indicates whether the publisher finished the subscription.
  ///
  /// It is `false` if ``invalidate()`` canceled the subscription first.
  public var hasEnded: Bool { log.hasEnded }

  /// Returns the next updates since the last call of `next`, and waits for them.
  ///
  /// If no update arrives within the limit, or if the waiting task is canceled, `next` prints its place, its count,
  /// and the received updates. A comparison with the result then fails at the call:
  ///
  /// ```swift
  /// #expect(await recorder.next(2) == [1, 2])
  /// ```
  ///
  /// - Parameters:
  ///   - count: The number of updates. The default is 1. Traps if negative.
  ///   - limit: The maximum wait for one update. The default is 10 seconds. It consists of 1,000 short waits, so that a
  ///     suspended process does not exceed it.
  ///   - fileID: The file of the call, for the message.
  ///   - line: The line of the call, for the message.
  /// - Returns: `count` updates, or fewer if the subscription ends, the limit expires, or the waiting task is canceled.
  public func next(
    _ count: Int = 1, within limit: Duration = .seconds(10), fileID: String = #fileID,
    line: Int = #line
  ) async -> [Update] {
    let updates = await log.next(count, within: limit)
    if updates.count < count, !log.isClosed {
      let reason = Task.isCancelled ? "was canceled" : "waited \(limit)"
      print("\(fileID):\(line): 'next(\(count))' \(reason) after these updates: \(updates)")
    }
    return updates
  }

  /// Cancels the subscription, and keeps the stored updates.
  public func invalidate() {
    subscription.invalidate()
    log.close()
  }
}
