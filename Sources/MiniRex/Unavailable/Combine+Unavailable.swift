// Names of Combine without an equal. See `Publisher+Unavailable`.

/// Unavailable; use ``Subscription``.
@available(
  *, unavailable, renamed: "Subscription",
  message: "Retain a 'Subscription', or store it in a 'SubscriptionBag'."
)
public typealias AnyCancellable = Subscription

extension Publisher {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Use 'bindOnMain(to: object, \\.property)', or 'subscribe(weakly: object) { $0.property = $1 }'. Both return a subscription to retain."
  )
  public func assign<Root>(
    to keyPath: ReferenceWritableKeyPath<Root, Update>, on object: Root
  ) -> Subscription { .ended }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A property of a class with '@Published' becomes a 'PublishedProperty'. Use 'subscribe { property.value = $0 }', or 'publishedValue(initial: …)' instead of a property."
  )
  public func assign<Target>(to target: inout Target) {}

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Updates are not paired by position. Use 'combineLatest(a, b)' for current values, 'a.withLatest(from: b)' for events, 'all(a, b)' for tasks, or 'pairs()' for consecutive updates."
  )
  public func zip<Other, OtherKind>(
    _ other: Publisher<Other, OtherKind>
  ) -> Broadcaster<(Update, Other)> { misuse("Unavailable.") }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Delete the call: every publisher already has the type 'Broadcaster', 'PublishedValue', 'PublishedTask', or 'ProgressiveTask'."
  )
  public func eraseToAnyPublisher() -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Use 'trace(…)' to log, 'subscribe(_:onEnd:)' to act, or 'map' to act before each subscriber."
  )
  public func handleEvents(
    receiveSubscription: ((Subscription) -> Void)? = nil, receiveOutput: ((Update) -> Void)? = nil,
    receiveCompletion: (() -> Void)? = nil, receiveCancel: (() -> Void)? = nil
  ) -> Publisher { self }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "Import 'MiniRexDispatchAdapters' for a 'DispatchQueue', or 'MiniRexFoundationAdapters' for an 'OperationQueue'. For the main actor, use 'subscribeOnMain { … }', and for another actor 'subscribe(isolatedTo: actor) { … }'."
  )
  public func receive<Scheduler>(on scheduler: Scheduler) -> Publisher { self }
}
