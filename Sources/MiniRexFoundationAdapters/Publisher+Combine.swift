// Combine exists on Apple platforms only.
#if canImport(Combine)
public import Combine
public import MiniRex

extension MiniRex.Publisher {
  /// The same updates as a Combine publisher.
  ///
  /// Not compiled here, because it needs Combine:
  ///
  /// ```swift
  /// temperature.publisher.combinePublisher.sink { print($0) }.store(in: &cancellables)
  /// ```
  ///
  /// Each Combine subscriber subscribes separately, and is called where this publisher emits. It
  /// finishes with this publisher. Beyond the demand of a subscriber, only the latest update is
  /// kept.
  public var combinePublisher: CombinePublisher<Update> {
    CombinePublisher(upstream: broadcaster)
  }
}

/// A Combine publisher of the updates of a MiniRex publisher.
///
/// See `combinePublisher`.
public struct CombinePublisher<Output: Sendable>: Combine.Publisher {
  /// The failure type.
  ///
  /// The failure of a task is part of its result.
  public typealias Failure = Never

  fileprivate let upstream: Broadcaster<Output>

  /// Subscribes to the MiniRex publisher.
  public func receive<Downstream: Subscriber<Output, Never>>(subscriber: Downstream) {
    let subscription = CombineSubscription(subscriber)
    subscriber.receive(subscription: subscription)
    subscription.begin(upstream)
  }
}

extension MiniRex.Publisher where Kind == BroadcasterKind {
  /// Creates a broadcaster from a Combine publisher.
  ///
  /// Not compiled here, because it needs Combine:
  ///
  /// ```swift
  /// let changes = Broadcaster(combine: model.objectWillChange.map { _ in })
  /// ```
  ///
  /// Each subscriber subscribes separately, with unlimited demand, and callbacks run where the
  /// Combine publisher emits. It finishes with the Combine publisher. Convert a publisher that
  /// can fail with `map` to a `Result` and `catch`.
  public init<Upstream: Combine.Publisher<Update, Never> & SendableMetatype>(
    combine upstream: Upstream, fileID: String = #fileID, line: Int = #line
  ) {
    // A Combine publisher may be subscribed to on any thread, but its type is not `Sendable`.
    nonisolated(unsafe) let upstream = upstream
    self.init(watchedBy: .ofSource("\(Upstream.self)", fileID, line)) { receive in
      let receiving = Receiving(receive)
      let cancellable = unsafe upstream.sink { _ in
        receiving.end()
      } receiveValue: { update in
        receiving.receive(update)
      }
      // A cancellable may be canceled on any thread, but its type is not `Sendable`.
      nonisolated(unsafe) let token = cancellable
      return Subscription { unsafe token.cancel() }
    }
  }
}

/// Releases the callback when Combine finishes, because the sink does not.
///
/// That finishes the broadcaster.
private final class Receiving<Update: Sendable>: Sendable {
  /// A struct, because `Lock` would wrap a closure in two more closures whenever it is read.
  private struct Callback: Sendable {
    let receive: @Sendable (Update) -> Void
  }

  private let callback: Lock<Callback?>

  init(_ callback: @escaping @Sendable (Update) -> Void) {
    self.callback = Lock(Callback(receive: callback))
  }

  func receive(_ update: Update) {
    let callback = callback.withLock { $0 }
    callback?.receive(update)
  }

  func end() {
    // The value is released after the lock, when this function returns.
    _ = callback.withLock { $0.take() }
  }
}
#endif
