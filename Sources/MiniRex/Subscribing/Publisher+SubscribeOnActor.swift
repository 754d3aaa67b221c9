extension Publisher {
  /// Subscribes on the main actor.
  ///
  /// ```swift
  /// let subscription = thermostat.temperature.subscribeOnMain { label.text = "\($0) °C" }
  /// ```
  ///
  /// An update sent on the main actor is delivered synchronously if no update is queued, and so is
  /// the first value of a published value. Other updates are dispatched to the main actor, in
  /// order. Canceling the subscription drops its queued updates.
  ///
  /// - Parameters:
  ///   - policy: The bound of the queue. The default is unbounded. See
  ///     ``Subscription/pendingUpdates`` and ``Subscription/droppedCount``.
  ///   - receive: The callback.
  ///   - onEnd: A closure that runs once on the main actor, after the last update. It does not run
  ///     after ``Subscription/invalidate()``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  @MainActor @inlinable
  public func subscribeOnMain(
    buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @MainActor (Update) -> Void, onEnd: (@MainActor () -> Void)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let isNew = policy.changeTest(of: Update.self)
    let call: @MainActor (Update) -> Void =
      if let isNew { { if isNew($0) { receive($0) } } } else { receive }
    let dispatcher = Dispatcher<Update, MainCallback<Update>>(
      MainCallback(call, onEnd), limit: policy.limit, at: CodePlace(fileID: fileID, line: line)
    ) {
      dispatcher, isContinued in
      if isContinued {
        Task { @MainActor in dispatcher.runOnMainActor() }
      } else {
        runOnMain { dispatcher.runOnMainActor() }
      }
    }
    return subscribe(as: "subscribeOnMain", fileID, line) { dispatcher.subscribe(to: self) }
  }

  /// Subscribes on the main actor for as long as `owner` exists, without retaining it.
  ///
  /// The first update after the owner is deallocated ends the subscription, and so does releasing
  /// the subscription. See `subscribeOnMain(buffering:_:)` for the rest.
  @MainActor
  public func subscribeOnMain<Owner: AnyObject>(
    weakly owner: Owner, buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @MainActor (Owner, Update) -> Void,
    onEnd: (@MainActor () -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let cancellation = EarlyCancellation()
    let call: @MainActor (Update) -> Void = { [weak owner] update in
      guard let owner else { return cancellation.cancel() }
      receive(owner, update)
    }
    let token = subscribeOnMain(
      buffering: policy, call, onEnd: onEnd, fileID: fileID, line: line)
    return cancellation.attach(token)
  }

  /// Assigns each update to a property of an object on the main actor, for as long as the object
  /// exists.
  ///
  /// It does not retain the object. See `subscribeOnMain(buffering:_:)` for the rest.
  @MainActor
  public func bindOnMain<Owner: AnyObject>(
    to owner: Owner, _ keyPath: ReferenceWritableKeyPath<Owner, Update>,
    buffering policy: BufferingPolicy<Kind> = .unbounded,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    subscribeOnMain(
      weakly: owner, buffering: policy, { owner, update in owner[keyPath: keyPath] = update },
      fileID: fileID, line: line)
  }

  /// Assigns each update to an optional property of an object on the main actor, for as long as the
  /// object exists.
  ///
  /// ```swift
  /// let binding = name.bindOnMain(to: label, \.text)
  /// ```
  ///
  /// It does not retain the object. See `subscribeOnMain(buffering:_:)` for the rest.
  @MainActor
  public func bindOnMain<Owner: AnyObject>(
    to owner: Owner, _ keyPath: ReferenceWritableKeyPath<Owner, Update?>,
    buffering policy: BufferingPolicy<Kind> = .unbounded,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    subscribeOnMain(
      weakly: owner, buffering: policy, { owner, update in owner[keyPath: keyPath] = update },
      fileID: fileID, line: line)
  }

  /// Subscribes on an actor for as long as the actor exists, without retaining it.
  ///
  /// Every update is dispatched to the actor, in order, including the first value of a published
  /// value. Canceling the subscription drops its queued updates.
  ///
  /// - Parameters:
  ///   - actor: The actor on which the callback runs.
  ///   - policy: The bound of the queue. The default is unbounded. See
  ///     ``Subscription/pendingUpdates`` and ``Subscription/droppedCount``.
  ///   - receive: The callback, with the actor and the update.
  ///   - onEnd: A closure that runs once on the actor, after the last update. It does not run after
  ///     ``Subscription/invalidate()``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  @inlinable
  public func subscribe<Isolation: Actor>(
    isolatedTo actor: Isolation, buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @Sendable (isolated Isolation, Update) -> Void,
    onEnd: (@Sendable (isolated Isolation) -> Void)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let cancellation = EarlyCancellation()
    let isNew = policy.changeTest(of: Update.self)
    let call: @Sendable (isolated Isolation, Update) -> Void =
      if let isNew { { if isNew($1) { receive($0, $1) } } } else { receive }
    let dispatcher = Dispatcher<Update, ActorCallback<Isolation, Update>>(
      ActorCallback(call, onEnd), limit: policy.limit, at: CodePlace(fileID: fileID, line: line)
    ) { [weak actor] dispatcher, _ in
      guard let actor else { return cancellation.cancel() }
      Task { await actor.run(dispatcher) }
    }
    let token = subscribe(as: "subscribe", fileID, line) { dispatcher.subscribe(to: self) }
    return cancellation.attach(token)
  }
}

extension Actor {
  /// Enqueues a job on this actor.
  @inlinable
  func run<Update>(_ dispatcher: Dispatcher<Update, ActorCallback<Self, Update>>) {
    dispatcher.run {
      $0.receive(self, $1)
    } ending: {
      $0.onEnd?(self)
    }
  }
}

/// The closures of a subscription on an actor.
@usableFromInline
struct ActorCallback<Isolation: Actor, Update: Sendable>: Sendable {
  @usableFromInline let receive: @Sendable (isolated Isolation, Update) -> Void
  @usableFromInline let onEnd: (@Sendable (isolated Isolation) -> Void)?

  @inlinable
  init(
    _ receive: @escaping @Sendable (isolated Isolation, Update) -> Void,
    _ onEnd: (@Sendable (isolated Isolation) -> Void)?
  ) {
    self.receive = receive
    self.onEnd = onEnd
  }
}

/// The closures of a subscription on the main actor.
@usableFromInline
struct MainCallback<Update: Sendable>: Sendable {
  @usableFromInline let receive: @MainActor (Update) -> Void
  @usableFromInline let onEnd: (@MainActor () -> Void)?

  @inlinable
  init(_ receive: @escaping @MainActor (Update) -> Void, _ onEnd: (@MainActor () -> Void)?) {
    self.receive = receive
    self.onEnd = onEnd
  }
}

extension Dispatcher where Callback == MainCallback<Update> {
  /// Runs a job on the main actor.
  @MainActor @inlinable
  func runOnMainActor() {
    run {
      $0.receive($1)
    } ending: {
      $0.onEnd?()
    }
  }
}

/// Runs the body synchronously on the main actor.
///
/// Elsewhere, dispatches it to the main actor.
///
/// The thread does not identify the main actor on Linux, where it may change threads.
@usableFromInline
func runOnMain(_ body: @escaping @MainActor @Sendable () -> Void) {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    Task.immediate { @MainActor in body() }
  } else if ThreadID.isMain {
    MainActor.assumeIsolated(body)
  } else {
    Task { @MainActor in body() }
  }
}
