internal import CNATS

/// This side's hold on a subscription, by which it is ended.
final class Feed: Sendable {
  private enum State: Sendable {
    case waiting
    case running(CPointer, Handle)
    case over
  }

  private struct Whole: Sendable {
    var state = State.waiting
    /// How many messages were dropped over connections that were lost.
    var earlierDrops = 0
  }

  private let state = Lock(Whole())

  /// Subscribes, unless it has been ended before there was a connection.
  func start(
    _ sink: Sink, over handle: Handle, _ options: NATSOptions
  ) throws(NATSError) {
    if state.withLock({ if case .over = $0.state { true } else { false } }) { return }
    let subscription = try sink.start(over: handle, options)
    let isOver = state.withLock { state in
      if case .over = state.state { return true }
      state.state = .running(subscription, handle)
      return false
    }
    if isOver { return remove(subscription) }
    if handle.wire.isLost { sink.leave() }
  }

  /// Leaves a connection that is lost, when all that it had received has been taken, so many messages.
  ///
  /// - Returns: False if it does not leave now.
  func leave(after taken: Int) -> Bool {
    // What goes is released after the lock.
    let left = state.withLock { state -> (CPointer, Handle)? in
      guard case .running(let subscription, let handle) = state.state, handle.wire.isLost else {
        return nil
      }
      var (waiting, delivered, dropped): (Int32, Int64, Int64) = (0, 0, 0)
      let status = natsSubscription_GetStats(
        subscription.pointer, &waiting, nil, nil, nil, &delivered, &dropped)
      if status == NATS_OK, waiting > 0 || delivered > taken { return nil }
      state.state = .waiting
      state.earlierDrops += Int(dropped)
      return (subscription, handle)
    }
    guard let (subscription, _) = left else { return false }
    remove(subscription)
    return true
  }

  /// How many messages libnats has dropped, over all connections; `nil` if it is not subscribed.
  ///
  /// It asks under the lock, because otherwise the subscription might go meanwhile.
  var droppedCount: Int? {
    state.withLock { state in
      guard case .running(let subscription, _) = state.state else { return nil }
      var count: Int64 = 0
      return natsSubscription_GetDropped(subscription.pointer, &count) == NATS_OK
        ? state.earlierDrops + Int(count) : nil
    }
  }

  /// Unsubscribes at the server; a call that has begun goes on.
  func end() {
    // The connection may be released with it, after the lock.
    let running = state.withLock { state -> (CPointer, Handle)? in
      defer { state.state = .over }
      if case .running(let subscription, let handle) = state.state { return (subscription, handle) }
      return nil
    }
    if let (subscription, _) = running { remove(subscription) }
  }

  /// It is freed on the thread of the loop, where messages are received: libnats 3.4 looks a
  /// subscription up there, and locks it without having kept it.
  private func remove(_ subscription: CPointer) {
    natsSubscription_Unsubscribe(subscription.pointer)
    EventLoop.shared.perform { natsSubscription_Destroy(subscription.pointer) }
  }
}
