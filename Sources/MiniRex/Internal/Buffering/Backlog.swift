/// The queue of one subscriber's updates that wait for a slot.
///
/// Its subscription counts and releases them.
final class Backlog<Update: Sendable>: SubscriptionHost {
  private struct State {
    /// `nil` after the subscription ends.
    ///
    /// Later updates are not stored.
    var queue: Queue<Carried<Update>>? = Queue()
    /// The counters of the suspending subscribers.
    var counters: [InFlightCounter] = []
    var inputHasEnded = false
  }

  private let state = Lock(State())

  func append(_ update: Update) {
    let carried = Carried(update)
    let counters = state.withLock { state in
      guard state.queue != nil else { return [InFlightCounter]() }
      state.queue?.append(carried)
      for counter in state.counters { counter.count(1) }
      return state.counters
    }
    for counter in counters { counter.check() }
  }

  /// Takes an update out of the queue, and passes it on.
  func passFirst(to body: (Update) -> Void) {
    let (carried, counters) = state.withLock { ($0.queue?.popFirst(), $0.counters) }
    guard let carried else { return }
    for counter in counters { counter.beginMove() }
    carried.deliver(body)
    for counter in counters { counter.endMove() }
  }

  /// Ends the timeouts for the input, whose senders the queue can no longer stall.
  func endInput() {
    let counters = state.withLock { state in
      state.inputHasEnded = true
      return state.counters
    }
    for counter in counters { counter.endTimeout() }
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    let inputHasEnded = state.withLock { state in
      state.counters.append(counter)
      counter.count(state.queue?.count ?? 0)
      return state.inputHasEnded
    }
    if inputHasEnded { counter.endTimeout() }
    counter.check()
  }

  func isSubscribed(_ token: Subscription) -> Bool { state.withLock { $0.queue != nil } }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    BufferCounts(pending: state.withLock { $0.queue?.count ?? 0 })
  }

  func end(_ token: Subscription) {
    var (queue, counters) = state.withLock { ($0.queue.take(), $0.counters) }
    for counter in counters { counter.subtract(queue?.count ?? 0) }
    ReleaseChain.release(&queue)
  }
}
