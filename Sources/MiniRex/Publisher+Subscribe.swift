extension Publisher {
  /// Calls `receive` with the next update only, and needs no token.
  ///
  /// From a published value that is the current one, at once. The subscription lives until the
  /// update has come or the source has ended.
  ///
  /// - Returns: A token to end it earlier, which you may drop.
  @discardableResult
  public func subscribeOnce(
    _ receive: @escaping @Sendable (Update) -> Void, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let fuse = Fuse()
    let isDone = SerialState(false)
    let token = subscribe(as: "subscribeOnce", fileID, line) {
      follow { update in
        if unsafe isDone.value { return }
        unsafe isDone.value = true
        fuse.blow()
        receive(update)
      }
    }
    return fuse.attach(token, keeping: true)
  }

  /// Calls `receive` with each update for as long as `owner` lives, without keeping it alive.
  ///
  /// When the owner has gone, the subscription has ended; dropping the token or the next update
  /// releases the callback. While a call runs, it keeps the owner alive. For an owner on the main
  /// actor see `subscribeOnMain(weakly:buffering:_:)`.
  public func subscribe<Owner: AnyObject & Sendable>(
    weakly owner: Owner, _ receive: @escaping @Sendable (Owner, Update) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let fuse = Fuse()
    let token = subscribe(as: "subscribe", fileID, line) {
      follow { [weak owner] update in
        guard let owner else { return fuse.blow() }
        receive(owner, update)
      }
    }
    return Subscription(OwnedInput(fuse.attach(token), owner: owner))
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Calls `initial` with the current value, then `updates` with each change.
  ///
  /// `initial` is released when it has been called.
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

  /// What a subscriber would be called with at once; `nil` if its first call would come later.
  ///
  /// It runs the transformations between here and the source.
  public func current() -> Update? {
    readCurrent()
  }
}

/// Subscribes for as long as `body` runs.
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

/// Subscribes for as long as `body` runs.
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
