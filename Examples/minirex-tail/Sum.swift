import MiniRex

extension Publisher where Kind == BroadcasterKind {
  /// The sum of what has been delivered from now on.
  func sum(_ amount: @escaping @Sendable (Update) -> Int) -> PublishedValue<Int> {
    scan(0) { $0 + amount($1) }.publishedValue(initial: 0)
  }
}
