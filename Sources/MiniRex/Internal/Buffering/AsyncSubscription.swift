/// The subscription of an asynchronous callback: a buffer, and the loop that empties it.
final class AsyncSubscription<Update: Sendable>: SubscriptionHost {
  private let updates: ValuesSubscription<Update>
  private let calls: CallCounter
  /// The subscription of the task that loops.
  private let loop: Subscription

  init(_ updates: ValuesSubscription<Update>, _ calls: CallCounter, loop: Subscription) {
    self.updates = updates
    self.calls = calls
    self.loop = loop
  }

  func isSubscribed(_ token: Subscription) -> Bool { loop.isSubscribed }

  func decisive(for token: Subscription) -> Subscription? { loop }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    updates.buffer.counts + updates.token.bufferCounts
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    updates.token.host.collectDrains(of: updates.token, into: &drains)
    drains.append { [calls] in await calls.drained() }
  }

  func end(_ token: Subscription) {
    updates.invalidate()
    loop.invalidate()
    calls.finishAll()
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    updates.invalidate()
    group.end(loop)
    calls.finishAll()
  }
}
