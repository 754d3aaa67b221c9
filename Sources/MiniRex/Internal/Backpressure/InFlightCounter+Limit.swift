extension InFlightCounter {
  /// Creates a counter if the policy suspends senders.
  @usableFromInline
  convenience init?(_ limit: BufferLimit, at place: @autoclosure () -> CodePlace?) {
    guard case .suspending(let limit) = limit else { return nil }
    self.init(limit, at: place())
  }

  @usableFromInline
  convenience init?(_ limit: BufferLimit, _ fileID: String, _ line: Int) {
    self.init(limit, at: CodePlace(fileID: fileID, line: line))
  }
}

/// Subscribes, and attaches the counter of a suspending subscriber.
@usableFromInline
package func connect(_ counter: InFlightCounter?, _ subscribe: () -> Subscription) -> Subscription {
  guard let counter else { return subscribe() }
  return FlowConnection.connect(to: [counter], subscribe)
}
