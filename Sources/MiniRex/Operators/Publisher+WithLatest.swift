extension Publisher where Kind: StreamKind {
  /// Pairs each update with the latest of the other one.
  ///
  /// ```swift
  /// let lines = taps.withLatest(from: text).map { tap, text in "\(text) at \(tap)" }
  /// ```
  ///
  /// The other one is a published value, or a broadcaster: what comes before the first update of a
  /// broadcaster, or of a value whose first call is late, as that of `delay` is, is left out. It
  /// gives a broadcaster, even of a published value, because it does not call when the other one
  /// does. It calls where this publisher does, and ends with it; the latest of one that has ended
  /// stays. The other one is subscribed to first, so an update that comes from the same source as
  /// an update there is paired with that one. Each subscriber holds one subscription to the other
  /// one, and the latest of it.
  @inlinable
  public func withLatest<Latest: Sendable, LatestKind: StreamKind>(
    from other: Publisher<Latest, LatestKind>
  ) -> Broadcaster<(Update, Latest)> {
    Broadcaster<(Update, Latest)>(
      lineage: .ofOperation(on: lineages + other.lineages), current: { nil }
    ) { receive in
      var latest = SharedLatest<Latest>()
      var following = other.follow { [latest] in latest.set($0) }
      // While another thread delivers for a value's source, that thread makes the first call.
      // Until then there is what was current before this subscribes anew; what is read after
      // subscribing may be newer than what that call brings.
      if latest.value == nil, let current = other.readCurrent() {
        latest = SharedLatest()
        following = other.follow { [latest] in latest.set($0) }
        latest.begin(with: current)
      }
      // The callback keeps the token, so the other one is left when this publisher is, or ends.
      return follow { [latest, following] update in
        withExtendedLifetime(following) {
          if let latest = latest.value { receive((update, latest)) }
        }
      }
    }
  }
}

/// The latest value, set by one publisher and read by the callbacks of another.
@usableFromInline
final class SharedLatest<Value: Sendable>: Sendable {
  @usableFromInline let latest = Lock<Value?>(nil)

  @inlinable
  init() {}

  @inlinable var value: Value? { latest.withLock { $0 } }

  @inlinable
  func set(_ value: Value) {
    // What it replaces is released when this returns, after the lock.
    var value: Value? = value
    latest.withLock { swap(&$0, &value) }
  }

  @inlinable
  func begin(with value: Value) {
    latest.withLock { if $0 == nil { $0 = value } }
  }
}
