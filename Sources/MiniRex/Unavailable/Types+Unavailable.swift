// Types of other libraries. A module that declares the same name wins in files that import both.

/// Unavailable; use ``BroadcastSource``.
@available(
  *, unavailable, message: "Use 'BroadcastSource<Output>', and its 'publisher' to subscribe."
)
public typealias PassthroughSubject<Output: Sendable, Failure> = BroadcastSource<Output>

/// Unavailable; use ``BroadcastSource``.
@available(
  *, unavailable, message: "Use 'BroadcastSource<Element>', and its 'publisher' to subscribe."
)
public typealias PublishSubject<Element: Sendable> = BroadcastSource<Element>

/// Unavailable; use ``BroadcastSource``.
@available(
  *, unavailable, message: "Use 'BroadcastSource<Element>', and its 'publisher' to subscribe."
)
public typealias PublishRelay<Element: Sendable> = BroadcastSource<Element>

/// Unavailable; use ``PublishedProperty``.
@available(
  *, unavailable, message: "Use 'PublishedProperty<Output>', and its 'publisher' to subscribe."
)
public typealias CurrentValueSubject<Output: Sendable, Failure> = PublishedProperty<Output>

/// Unavailable; use ``PublishedProperty``.
@available(
  *, unavailable, message: "Use 'PublishedProperty<Element>', and its 'publisher' to subscribe."
)
public typealias BehaviorSubject<Element: Sendable> = PublishedProperty<Element>

/// Unavailable; use ``PublishedProperty``.
@available(
  *, unavailable, message: "Use 'PublishedProperty<Element>', and its 'publisher' to subscribe."
)
public typealias BehaviorRelay<Element: Sendable> = PublishedProperty<Element>

/// Unavailable; use ``Broadcaster``.
@available(
  *, unavailable,
  message:
    "Use 'Broadcaster' for events, 'PublishedValue' for a current value, or 'PublishedTask' for one result."
)
public typealias AnyPublisher<Output: Sendable, Failure> = Broadcaster<Output>

/// Unavailable; use ``SubscriptionBag``.
@available(*, unavailable, message: "Use 'SubscriptionBag'.")
public typealias DisposeBag = SubscriptionBag
