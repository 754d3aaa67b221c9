extension Publisher {
  /// Calls `receive` on the main actor.
  ///
  /// ```swift
  /// let subscription = thermostat.temperature.subscribeOnMain { label.text = "\($0) °C" }
  /// ```
  ///
  /// An update that is sent on the main actor calls at once when nothing waits, so a published
  /// value's first call is made inside; others wait for a hop to the main actor, in order. Ending
  /// the subscription before the hop prevents the call.
  ///
  /// - Parameters:
  ///   - policy: How much may wait; unless you say otherwise, without a limit. Look at
  ///     ``Subscription/pendingUpdates`` and ``Subscription/droppedCount``.
  ///   - receive: Called with each update.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  @MainActor @inlinable
  public func subscribeOnMain(
    buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @MainActor (Update) -> Void, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let isNew = policy.changeTest(of: Update.self)
    let call: @MainActor (Update) -> Void =
      if let isNew { { if isNew($0) { receive($0) } } } else { receive }
    let hop = Hop<Update, @MainActor (Update) -> Void>(call, limit: policy.limit) {
      hop, isContinued in
      if isContinued {
        Task { @MainActor in hop.run { $0($1) } }
      } else {
        runOnMain { hop.run { $0($1) } }
      }
    }
    return subscribe(as: "subscribeOnMain", fileID, line) { hop.subscribe(to: self) }
  }

  /// Calls `receive` on the main actor for as long as `owner` lives, without keeping it alive.
  ///
  /// The first update that finds the owner gone ends the subscription, and so does dropping the
  /// token. Otherwise it is like `subscribeOnMain(buffering:_:)`.
  @MainActor
  public func subscribeOnMain<Owner: AnyObject>(
    weakly owner: Owner, buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @MainActor (Owner, Update) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let fuse = Fuse()
    let call: @MainActor (Update) -> Void = { [weak owner] update in
      guard let owner else { return fuse.blow() }
      receive(owner, update)
    }
    let token = subscribeOnMain(buffering: policy, call, fileID: fileID, line: line)
    return fuse.attach(token)
  }

  /// Sets a property of an object on the main actor to each update, for as long as the object
  /// lives.
  ///
  /// It does not keep the object alive. Otherwise it is like `subscribeOnMain(buffering:_:)`.
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

  /// Calls `receive` on an actor for as long as that lives, without keeping it alive.
  ///
  /// Every update, a published value's first one too, waits for a hop to the actor; they arrive in
  /// order. Ending the subscription before the hop prevents the call.
  ///
  /// - Parameters:
  ///   - actor: Where to call.
  ///   - policy: How much may wait; unless you say otherwise, without a limit. Look at
  ///     ``Subscription/pendingUpdates`` and ``Subscription/droppedCount``.
  ///   - receive: Called with the actor and each update.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  @inlinable
  public func subscribe<Isolation: Actor>(
    isolatedTo actor: Isolation, buffering policy: BufferingPolicy<Kind> = .unbounded,
    _ receive: @escaping @Sendable (isolated Isolation, Update) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let fuse = Fuse()
    let isNew = policy.changeTest(of: Update.self)
    let call: @Sendable (isolated Isolation, Update) -> Void =
      if let isNew { { if isNew($1) { receive($0, $1) } } } else { receive }
    let hop = Hop<Update, @Sendable (isolated Isolation, Update) -> Void>(
      call, limit: policy.limit
    ) { [weak actor] hop, _ in
      guard let actor else { return fuse.blow() }
      Task { await actor.run(hop) }
    }
    let token = subscribe(as: "subscribe", fileID, line) { hop.subscribe(to: self) }
    return fuse.attach(token)
  }
}

extension Actor {
  /// The job of a hop to this actor.
  @inlinable
  func run<Update>(_ hop: Hop<Update, @Sendable (isolated Self, Update) -> Void>) {
    hop.run { receive, update in receive(self, update) }
  }
}
