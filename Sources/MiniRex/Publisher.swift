/// A source of updates that you can subscribe to.
///
/// ```swift
/// let source = BroadcastSource<Int>()
/// let subscription = source.publisher
///   .map { $0 * 2 }
///   .subscribe { print($0) }
/// source.broadcast(21)  // prints 42
/// ```
///
/// `Kind` is its promise: see ``Broadcaster``, ``PublishedValue``, ``PublishedTask``, and
/// ``ProgressiveTask``. A publisher is a value that you can copy freely. It may retain the current
/// value of its source, but never the source. The closure of an operator runs once per subscriber.
/// Only task operators that start work, such as `flatMap` of a task, `recover`, and `first`, share
/// one run among all subscribers. `flatMap(limit:)` runs per subscriber.
public struct Publisher<Update: Sendable, Kind: PublisherKind>: Sendable {
  @usableFromInline let connect: Connect<Update>
  @usableFromInline let currentValue: CurrentValue<Update>
  /// `nil` if no instrument is installed, so that an unwatched publisher does no extra work.
  @usableFromInline package let lineage: Lineage?

  /// Creates a publisher whose `connect` is known to serialize its callbacks and to keep the
  /// promise of the kind.
  ///
  /// - Parameters:
  ///   - lineage: The origin, if an instrument watches it.
  ///   - value: The value that `connect` emits synchronously, and whether computed values can track it.
  ///   - connect: Subscribes a callback.
  @inlinable
  package init(
    lineage: Lineage? = nil, value: CurrentValue<Update>, connect: @escaping Connect<Update>
  ) {
    self.connect = connect
    currentValue = value
    self.lineage = lineage
  }

  /// Creates the publisher of an operator.
  ///
  /// A graph shows it by the name of its function.
  @inlinable
  package init<Upstream, UpstreamKind>(
    of upstream: Publisher<Upstream, UpstreamKind>, by function: String = #function,
    value: CurrentValue<Update>, connect: @escaping Connect<Update>
  ) {
    self.init(
      lineage: .ofOperation(function, on: upstream.lineage), value: value, connect: connect)
  }

  /// Creates the publisher of a source or a trace, which counts its own events if it has a lineage.
  @inlinable
  package init(
    watchedBy lineage: Lineage?, value: CurrentValue<Update>, connect: @escaping Connect<Update>
  ) {
    if let lineage {
      self.init(lineage: lineage, value: value) { lineage.pass($0, by: connect) }
    } else {
      self.init(lineage: nil, value: value, connect: connect)
    }
  }

  /// Creates the publisher of an operation that a source performs.
  ///
  /// The operation has its own name, and the source counts its events.
  ///
  /// - Parameter source: The lineage of the source, or of one of its operations.
  @inlinable
  package init(
    watchedBy source: Lineage?, as operation: @autoclosure () -> String,
    value: CurrentValue<Update>, connect: @escaping Connect<Update>
  ) {
    if let source {
      self.init(lineage: .ofOperation(operation(), on: source), value: value) {
        source.origin.pass($0, by: connect)
      }
    } else {
      self.init(lineage: nil, value: value, connect: connect)
    }
  }

  /// Returns the value that a subscriber would receive synchronously, or `nil`.
  @inlinable
  package func readCurrent() -> Update? { read(in: nil) }

  /// Subscribes a callback, which receives one update at a time.
  ///
  /// The callback runs on the sender's thread, or on the thread that is already delivering. Within
  /// one update, subscribers run in the order in which they subscribed. The callback is retained
  /// until the subscription is canceled or the source finishes.
  ///
  /// - Returns: The subscription. Releasing its last reference cancels it, so retain it.
  @inlinable
  public func subscribe(
    _ receive: @escaping @Sendable (Update) -> Void, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    guard let lineage else { return connect(receive) }
    let watching = lineage.enter("subscribe", fileID, line)
    let token = connect { update in
      watching.passage?.willDeliver()
      receive(update)
      watching.passage?.hasDelivered()
    }
    watching.scope.exit()
    return token
  }

  /// Subscribes a callback, and runs `onEnd` once after the last update.
  ///
  /// `onEnd` runs after the source or an operator finishes, on the thread that delivered last. It
  /// does not run after ``Subscription/invalidate()``.
  public func subscribe(
    _ receive: @escaping @Sendable (Update) -> Void, onEnd: @escaping @Sendable () -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    subscribe(as: "subscribe", fileID, line) { follow(receive, onEnd: onEnd) }
  }
}

extension Publisher {
  /// The origin as an array, empty if no instrument watches the publisher.
  @inlinable
  package var lineages: [Lineage] { lineage.map { [$0] } ?? [] }
}

extension Publisher where Kind == BroadcasterKind {
  /// Creates a broadcaster from an upstream publisher that is known to keep its promise.
  @inlinable
  package init<Upstream, UpstreamKind>(
    trusting upstream: Publisher<Upstream, UpstreamKind>, by function: String = #function,
    connect: @escaping Connect<Update>
  ) {
    self.init(of: upstream, by: function, value: .none, connect: connect)
  }

  /// Creates a broadcaster from anything that can be started and stopped.
  ///
  /// ```swift
  /// let ticks = Broadcaster<Date> { receive in
  ///   let timer = start(every: 1) { receive(Date()) }
  ///   return Subscription { timer.stop() }
  /// }
  /// ```
  ///
  /// - Parameter start: A closure that runs once per subscriber. It may call `receive` from any
  ///   thread, and the calls are serialized. Releasing the last reference to `receive` finishes the
  ///   publisher for that subscriber. Canceling the subscriber's subscription cancels the returned
  ///   one.
  public init(
    _ start: @escaping @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription
  ) {
    self.init(watchedBy: nil, starting: start)
  }

  /// Creates a broadcaster from a closure.
  ///
  /// An instrument sees it as a source if it has a lineage.
  package init(
    watchedBy lineage: Lineage?,
    starting start:
      @escaping @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription
  ) {
    self.init(watchedBy: lineage, value: .none) { receive in
      let source = BroadcastSource<Update>(lineage: nil)
      let gate = source.publisher.subscribe(receive)
      return Subscription(gate: gate, inputs: [start { source.broadcast($0) }])
    }
  }
}

/// Subscribes a callback.
///
/// The callback is consumed, so that its slot takes it without a retain.
@usableFromInline
package typealias Connect<Update> =
  @Sendable (consuming @escaping @Sendable (Update) -> Void) -> Subscription
