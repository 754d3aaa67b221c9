// Only Apple platforms have Combine.
#if canImport(Combine)
  public import Combine
  public import MiniRex

  extension MiniRex.Publisher {
    /// The same updates as a publisher of Combine.
    ///
    /// Not compiled here, because it needs Combine:
    ///
    /// ```swift
    /// temperature.publisher.combinePublisher.sink { print($0) }.store(in: &cancellables)
    /// ```
    ///
    /// Each subscriber of it subscribes by itself, and is called where this publisher calls. It
    /// finishes when this publisher ends. What comes while a subscriber has not asked for more
    /// waits; of several, only the latest does.
    public var combinePublisher: CombinePublisher<Update> {
      CombinePublisher(upstream: broadcaster)
    }
  }

  /// A publisher of Combine that is made of one of MiniRex; see `combinePublisher`.
  public struct CombinePublisher<Output: Sendable>: Combine.Publisher {
    /// It cannot fail: what a task fails with is in its result.
    public typealias Failure = Never

    fileprivate let upstream: Broadcaster<Output>

    /// Subscribes to the publisher behind it.
    public func receive<Downstream: Subscriber<Output, Never>>(subscriber: Downstream) {
      let subscription = CombineSubscription(subscriber)
      subscriber.receive(subscription: subscription)
      subscription.begin(upstream)
    }
  }

  extension MiniRex.Publisher where Kind == BroadcasterKind {
    /// Makes a broadcaster of a publisher of Combine.
    ///
    /// Not compiled here, because it needs Combine:
    ///
    /// ```swift
    /// let changes = Broadcaster(combine: model.objectWillChange.map { _ in })
    /// ```
    ///
    /// Each subscriber subscribes to it by itself, and asks for all it has; it is called where that
    /// publisher calls. It ends when that publisher finishes. One that can fail becomes one that
    /// cannot by `map` to a `Result` and `catch`.
    public init<Upstream: Combine.Publisher<Update, Never> & SendableMetatype>(
      combine upstream: Upstream, fileID: String = #fileID, line: Int = #line
    ) {
      // A publisher of Combine may be subscribed to on any thread; its type does not say so.
      nonisolated(unsafe) let upstream = upstream
      self.init(watchedBy: .ofSource("\(Upstream.self)", fileID, line)) { receive in
        let receiving = Receiving(receive)
        let cancellable = unsafe upstream.sink { _ in
          receiving.end()
        } receiveValue: { update in
          receiving.receive(update)
        }
        // Any thread may cancel it, but its type does not say so.
        nonisolated(unsafe) let token = cancellable
        return Subscription { unsafe token.cancel() }
      }
    }
  }

  /// Lets go of the callback when Combine finishes, which its sink does not: that is the end.
  private final class Receiving<Update: Sendable>: Sendable {
    private let callback: Lock<(@Sendable (Update) -> Void)?>

    init(_ callback: @escaping @Sendable (Update) -> Void) {
      self.callback = Lock(callback)
    }

    func receive(_ update: Update) {
      let callback = callback.withLock { $0 }
      callback?(update)
    }

    func end() {
      // Released when this returns, after the lock.
      _ = callback.withLock { $0.take() }
    }
  }
#endif
