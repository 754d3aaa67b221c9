extension Publisher {
  /// Subscribes for the next update only.
  ///
  /// You need not retain the result.
  ///
  /// A published value emits its current value synchronously. The subscription stays active until
  /// the update arrives or the source finishes.
  ///
  /// - Returns: A subscription for an earlier cancellation.
  @discardableResult
  public func subscribeOnce(
    _ receive: @escaping @Sendable (Update) -> Void, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let cancellation = EarlyCancellation()
    let isDone = SerialState(false)
    let token = subscribe(as: "subscribeOnce", fileID, line) {
      follow { update in
        if unsafe isDone.value { return }
        unsafe isDone.value = true
        receive(update)
        // Canceled before, `ended` would return while the callback runs.
        cancellation.cancel()
      }
    }
    return cancellation.attach(token, keeping: true)
  }

  /// Subscribes for as long as `owner` exists, without retaining it.
  ///
  /// After the owner is deallocated, the subscription has ended. Its callback is released with the
  /// subscription, or by the next update. A running callback retains the owner. For an owner on the
  /// main actor, see `subscribeOnMain(weakly:buffering:_:)`.
  ///
  /// - Parameters:
  ///   - owner: The object that limits the subscription.
  ///   - receive: The callback, with the owner and the update.
  ///   - onEnd: A closure that runs once after the last update, if the publisher finishes before the
  ///     owner is deallocated.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func subscribe<Owner: AnyObject & Sendable>(
    weakly owner: Owner, _ receive: @escaping @Sendable (Owner, Update) -> Void,
    onEnd: (@Sendable () -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let cancellation = EarlyCancellation()
    let receive: @Sendable (Update) -> Void = { [weak owner] update in
      guard let owner else { return cancellation.cancel() }
      receive(owner, update)
    }
    let token = subscribe(as: "subscribe", fileID, line) {
      guard let onEnd else { return follow(receive) }
      return follow(receive) { [weak owner] in if owner != nil { onEnd() } }
    }
    return Subscription(OwnedInput(cancellation.attach(token), owner: owner))
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Subscribes with one callback for the current value, and one for each change.
  ///
  /// `initial` is released after its call.
  public func subscribe(
    initial: @escaping @Sendable (Update) -> Void, updates: @escaping @Sendable (Update) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let first = SerialState(Optional(initial))
    return subscribe(as: "subscribe", fileID, line) {
      follow { value in
        guard let initial = unsafe first.value.take() else { return updates(value) }
        initial(value)
      }
    }
  }

  /// Returns the value that a subscriber would receive synchronously, or `nil` if it would receive
  /// none.
  ///
  /// It runs the transforms between the source and this publisher.
  public func current() -> Update? {
    readCurrent()
  }
}

/// Subscribes while `body` runs.
///
/// ```swift
/// withSubscription(progress.publisher, { print("\($0) %") }, while: { load() })
/// ```
public func withSubscription<Update, Kind, Result, Failure: Error>(
  _ publisher: Publisher<Update, Kind>, _ receive: @escaping @Sendable (Update) -> Void,
  while body: () throws(Failure) -> Result, fileID: String = #fileID, line: Int = #line
) throws(Failure) -> Result {
  let subscription = publisher.subscribe(as: "withSubscription", fileID, line) {
    publisher.follow(receive)
  }
  defer { subscription.invalidate() }
  return try body()
}

/// Subscribes while `body` runs.
///
/// ```swift
/// await withSubscription(progress.publisher, { print("\($0) %") }, while: { await loadSlowly() })
/// ```
public func withSubscription<Update, Kind, Result, Failure: Error>(
  _ publisher: Publisher<Update, Kind>, _ receive: @escaping @Sendable (Update) -> Void,
  while body: () async throws(Failure) -> Result, fileID: String = #fileID, line: Int = #line
) async throws(Failure) -> Result {
  let subscription = publisher.subscribe(as: "withSubscription", fileID, line) {
    publisher.follow(receive)
  }
  defer { subscription.invalidate() }
  return try await body()
}
