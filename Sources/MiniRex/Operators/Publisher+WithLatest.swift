extension Publisher where Kind: StreamKind {
  /// Emits each update together with the latest value of another publisher.
  ///
  /// ```swift
  /// let lines = taps.withLatest(from: text).map { tap, text in "\(text) at \(tap)" }
  /// ```
  ///
  /// ![withLatest pairs with the current value, and ignores changes of that value](withLatest.svg)
  ///
  /// The other publisher is a published value or a broadcaster. Updates before its first value are
  /// skipped. The result is a broadcaster, even for a published value, because a change of the
  /// other publisher emits nothing. Callbacks run where this publisher runs them, and it finishes
  /// with this publisher. If the other publisher finishes, its latest value stays. The other
  /// publisher is subscribed first, so two updates that one source sends together are paired. Each
  /// subscriber holds one subscription to the other publisher, and its latest value.
  @inlinable
  public func withLatest<Latest: Sendable, LatestKind: StreamKind>(
    from other: Publisher<Latest, LatestKind>
  ) -> Broadcaster<(Update, Latest)> {
    Broadcaster<(Update, Latest)>(
      lineage: .ofOperation(on: lineages + other.lineages), value: .none
    ) { receive in
      var latest = SharedLatest<Latest>()
      var following = other.follow { [latest] in latest.set($0) }
      // While another thread delivers for the value's source, that thread emits the first value
      // later. Until then, the value read before the second subscription serves. A value read after
      // subscribing could be newer than the emitted value, and would go back.
      if latest.value == nil, let current = other.readCurrent() {
        latest = SharedLatest()
        following = other.follow { [latest] in latest.set($0) }
        latest.begin(with: current)
      }
      // The callback retains the subscription to the other publisher, which is therefore canceled
      // together with this publisher.
      return follow { [latest, following] update in
        withExtendedLifetime(following) {
          if let latest = latest.value { receive((update, latest)) }
        }
      }
    }
  }
}

/// The latest value, written by one publisher and read by the callbacks of another.
@usableFromInline
final class SharedLatest<Value: Sendable>: Sendable {
  @usableFromInline let latest = Lock<Value?>(nil)

  @inlinable
  init() {}

  @inlinable var value: Value? { latest.withLock { $0 } }

  @inlinable
  func set(_ value: Value) {
    // The replaced value is released after the lock, when this function returns.
    var value: Value? = value
    latest.withLock { swap(&$0, &value) }
  }

  @inlinable
  func begin(with value: Value) {
    latest.withLock { if $0 == nil { $0 = value } }
  }
}
