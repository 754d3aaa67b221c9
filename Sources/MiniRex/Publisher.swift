/// Something you can subscribe to: it calls you with each update until your token ends.
///
/// ```swift
/// let source = BroadcastSource<Int>()
/// let subscription = source.publisher
///   .map { $0 * 2 }
///   .subscribe { print($0) }
/// source.broadcast(21)  // prints 42
/// ```
///
/// `Kind` says what it promises: see ``Broadcaster``, ``PublishedValue``, ``PublishedTask`` and
/// ``ProgressiveTask``. A publisher is a value that you pass around freely; it may keep alive the
/// current value of its source, but never the source. What its operators call is called for each
/// subscriber; only those that start work, such as `flatMap`, `recover` and `first`, call it once
/// for all subscribers of the run.
public struct Publisher<Update: Sendable, Kind: PublisherKind>: Sendable {
  @usableFromInline let connect: Connect<Update>
  @usableFromInline package let readCurrent: @Sendable () -> Update?
  /// `nil` if no instrument watches, so that nothing is ever done for one.
  @usableFromInline package let lineage: Lineage?

  /// Trusts `connect` to make calls that do not overlap, and to keep the promise of the kind.
  ///
  /// - Parameters:
  ///   - lineage: Where it comes from, if that is watched.
  ///   - current: What `connect` would call with at once; `nil` if it would not call.
  ///   - connect: Subscribes.
  @inlinable
  package init(
    lineage: Lineage? = nil,
    current: @escaping @Sendable () -> Update?,
    connect: @escaping Connect<Update>
  ) {
    self.connect = connect
    readCurrent = current
    self.lineage = lineage
  }

  /// Trusts an operator, which a graph shows by the name of its function.
  @inlinable
  package init<Upstream, UpstreamKind>(
    of upstream: Publisher<Upstream, UpstreamKind>, by function: String = #function,
    current: @escaping @Sendable () -> Update?,
    connect: @escaping Connect<Update>
  ) {
    self.init(
      lineage: .ofOperation(function, on: upstream.lineage), current: current, connect: connect)
  }

  /// Trusts a source or a trace, which counts for itself if there is a lineage.
  @inlinable
  package init(
    watchedBy lineage: Lineage?, current: @escaping @Sendable () -> Update?,
    connect: @escaping Connect<Update>
  ) {
    if let lineage {
      self.init(lineage: lineage, current: current) { lineage.pass($0, by: connect) }
    } else {
      self.init(lineage: nil, current: current, connect: connect)
    }
  }

  /// Trusts an operation that a source does itself: it has a name of its own, and the source counts.
  ///
  /// - Parameter source: What is watched: a source, or an operation of one.
  @inlinable
  package init(
    watchedBy source: Lineage?, as operation: @autoclosure () -> String,
    current: @escaping @Sendable () -> Update?,
    connect: @escaping Connect<Update>
  ) {
    if let source {
      self.init(lineage: .ofOperation(operation(), on: source), current: current) {
        source.origin.pass($0, by: connect)
      }
    } else {
      self.init(lineage: nil, current: current, connect: connect)
    }
  }

  /// Calls `receive` with each update, one call at a time.
  ///
  /// Calls come on the thread that sends, or on one that is delivering already; within an update,
  /// subscribers are called in the order in which they subscribed. The callback is kept until the
  /// subscription ends or the source does.
  ///
  /// - Returns: The token, which ends the subscription when it goes. Keep it.
  @inlinable
  public func subscribe(
    _ receive: @escaping @Sendable (Update) -> Void, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    guard let lineage else { return connect(receive) }
    let watching = lineage.enter("subscribe", fileID, line)
    let token = connect { update in
      receive(update)
      watching.passage?.hasDelivered()
    }
    watching.scope.exit()
    return token
  }

  /// Calls `receive` with each update, and `onEnd` once after the last.
  ///
  /// `onEnd` is called when the source has ended, or an operator has enough, by the thread that
  /// delivered last; never after ``Subscription/invalidate()``.
  public func subscribe(
    _ receive: @escaping @Sendable (Update) -> Void, onEnd: @escaping @Sendable () -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    subscribe(as: "subscribe", fileID, line) { follow(receive, onEnd: onEnd) }
  }
}

extension Publisher {
  /// Where it comes from, if that is watched.
  @inlinable
  package var lineages: [Lineage] { lineage.map { [$0] } ?? [] }
}

extension Publisher where Kind == BroadcasterKind {
  /// Trusts a publisher that is made of one that can be trusted.
  @inlinable
  package init<Upstream, UpstreamKind>(
    trusting upstream: Publisher<Upstream, UpstreamKind>, by function: String = #function,
    connect: @escaping Connect<Update>
  ) {
    self.init(of: upstream, by: function, current: { nil }, connect: connect)
  }

  /// Makes a broadcaster of anything that can be started and stopped.
  ///
  /// ```swift
  /// let ticks = Broadcaster<Date> { receive in
  ///   let timer = start(every: 1) { receive(Date()) }
  ///   return Subscription { timer.stop() }
  /// }
  /// ```
  ///
  /// - Parameter start: Called by each subscriber. Call `receive` from any threads: the calls are
  ///   brought into one order. When the last reference to `receive` goes, the subscriber hears of
  ///   the end. The token you return is ended when the subscriber's is.
  public init(
    _ start: @escaping @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription
  ) {
    self.init(watchedBy: nil, starting: start)
  }

  /// Makes a broadcaster of anything, which is watched as a source if there is a lineage.
  package init(
    watchedBy lineage: Lineage?,
    starting start:
      @escaping @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription
  ) {
    self.init(watchedBy: lineage, current: { nil }) { receive in
      let source = BroadcastSource<Update>(lineage: nil)
      let gate = source.publisher.subscribe(receive)
      return Subscription(gate: gate, inputs: [start { source.broadcast($0) }])
    }
  }
}

/// Subscribes a callback, which is handed over for good: into its slot without a retain.
@usableFromInline
package typealias Connect<Update> =
  @Sendable (consuming @escaping @Sendable (Update) -> Void) -> Subscription
