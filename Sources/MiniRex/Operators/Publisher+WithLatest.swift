extension Publisher where Kind: StreamKind {
  /// Pairs each update with the value that is current then.
  ///
  /// ```swift
  /// let lines = taps.withLatest(from: text).map { tap, text in "\(text) at \(tap)" }
  /// ```
  ///
  /// It gives a broadcaster, even of a published value, because it does not call when the value
  /// changes. It calls where this publisher does, and ends with it; a value that has ended stays
  /// what it was. The value is subscribed to first, so an update that comes from the same source as
  /// the value is paired with what it has changed the value to. Each subscriber holds one
  /// subscription to the value, and the latest of it. An update that comes before a value whose
  /// first call is late, as that of `delay` is, is left out.
  public func withLatest<Value: Sendable>(
    from value: PublishedValue<Value>
  ) -> Broadcaster<(Update, Value)> {
    Broadcaster<(Update, Value)>(
      lineage: .ofOperation(on: lineages + value.lineages), current: { nil }
    ) { receive in
      var latest = SharedLatest<Value>()
      var following = value.follow { [latest] in latest.set($0) }
      // While another thread delivers for the value's source, that thread makes the first call.
      // Until then there is what was current before this subscribes anew; what is read after
      // subscribing may be newer than what that call brings.
      if latest.value == nil, let current = value.readCurrent() {
        latest = SharedLatest()
        following = value.follow { [latest] in latest.set($0) }
        latest.begin(with: current)
      }
      // The callback keeps the token, so the value is left when this publisher is, or ends.
      return follow { [latest, following] update in
        withExtendedLifetime(following) {
          if let value = latest.value { receive((update, value)) }
        }
      }
    }
  }
}

/// The latest value, set by one publisher and read by the callbacks of another.
private final class SharedLatest<Value: Sendable>: Sendable {
  private let latest = Lock<Value?>(nil)

  var value: Value? { latest.withLock { $0 } }

  func set(_ value: Value) {
    // What it replaces is released when this returns, after the lock.
    var value: Value? = value
    latest.withLock { swap(&$0, &value) }
  }

  func begin(with value: Value) {
    latest.withLock { if $0 == nil { $0 = value } }
  }
}
