#if NATS
internal import MiniRex
internal import CNATS
internal import Synchronization

/// The client side of a subscription at the server, which survives reconnects.
final class ServerSubscription: Sendable {
  private enum State: Sendable {
    case waiting
    /// Subscribed, before or after the last callback of a connection that was closed.
    case starting(CPointer, hasEnded: Bool)
    case running(CPointer, LibNATSConnection)
    case over
  }

  private struct Whole: Sendable {
    var state = State.waiting
    /// The number of messages dropped on lost connections.
    var earlierDrops = 0
  }

  private static let lastNumber = Atomic(0)

  /// The number of the subscription.
  ///
  /// Older subscriptions have smaller numbers.
  let number = ServerSubscription.lastNumber.add(1, ordering: .relaxed).newValue
  /// A Boolean value that indicates whether the limit of the server does not apply.
  let isEssential: Bool
  private let state = Lock(Whole())

  init(isEssential: Bool) { self.isEssential = isEssential }

  /// A Boolean value that indicates whether it was canceled.
  var isOver: Bool { state.withLock { if case .over = $0.state { true } else { false } } }

  /// Subscribes, unless it was canceled before a connection existed.
  ///
  /// The connection has counted it.
  ///
  /// - Returns: `nil`, or the handler of another attempt if the connection was closed concurrently.
  func start(
    _ handler: MessageHandler, over handle: LibNATSConnection, _ options: NATSOptions
  ) throws(NATSError) -> MessageHandler? {
    var isCounted = false
    defer { if !isCounted { handle.countSubscription(-1) } }
    if isOver { return nil }
    let subscription = try handler.start(over: handle)
    // Before the last callback, which may follow `observe` immediately.
    state.withLock { state in
      if case .over = state.state { return }
      state.state = .starting(subscription, hasEnded: false)
    }
    let isObserved = handler.observe(subscription, options)
    let (isOver, isRunning) = state.withLock { state in
      guard case .starting(_, let hasEnded) = state.state else { return (true, false) }
      let isRunning = isObserved && !hasEnded
      state.state = isRunning ? .running(subscription, handle) : .waiting
      return (false, isRunning)
    }
    // The count of a lost connection stays, see `leave`.
    isCounted = !isOver
    if isRunning {
      if handle.wire.isLost { handler.leave() }
      return nil
    }
    remove(subscription)
    let next = isObserved ? handler.next() : handler.giveUp()
    return isOver ? nil : next
  }

  /// Detaches from a lost connection if `taken` is the number of messages that it received.
  ///
  /// - Parameter complete: The address of the subscription if this was the last callback of
  ///   libnats.
  /// - Returns: `false` if it stays attached for now.
  func leave(after taken: Int, complete: UInt?) -> Bool {
    // Release outside the lock.
    let left = state.withLock { state -> (CPointer, LibNATSConnection)? in
      if case .starting(let subscription, _) = state.state,
        complete == UInt(bitPattern: subscription.pointer)
      {
        state.state = .starting(subscription, hasEnded: true)
      }
      guard case .running(let subscription, let handle) = state.state,
        complete != nil || handle.wire.isLost
      else { return nil }
      // The subscription of the next connection may be running by now.
      if let complete, complete != UInt(bitPattern: subscription.pointer) { return nil }
      // The last callback of a subscription that was not canceled: libnats has closed the
      // connection.
      if complete != nil { handle.wire.lose() }
      var (waiting, delivered, dropped): (Int32, Int64, Int64) = (0, 0, 0)
      let status = natsSubscription_GetStats(
        subscription.pointer, &waiting, nil, nil, nil, &delivered, &dropped)
      // A closed subscription reports the return of its last callback, see `MessageHandler`.
      if status != NATS_OK, complete == nil { return nil }
      if status == NATS_OK, waiting > 0 || delivered > taken { return nil }
      state.state = .waiting
      state.earlierDrops += Int(dropped)
      return (subscription, handle)
    }
    guard let (subscription, handle) = left else { return false }
    // The count of a lost connection stays: the error of the server may refer to it.
    withExtendedLifetime(handle) { remove(subscription) }
    return true
  }

  /// The connection over which it receives, or `nil` without one.
  var connection: LibNATSConnection? {
    state.withLock { if case .running(_, let handle) = $0.state { handle } else { nil } }
  }

  /// The number of messages that libnats has dropped on all connections, or `nil` without a
  /// subscription.
  ///
  /// It queries libnats under the lock, because the subscription could otherwise be freed
  /// concurrently.
  var droppedCount: Int? {
    state.withLock { state in
      guard case .running(let subscription, _) = state.state else { return nil }
      var count: Int64 = 0
      return natsSubscription_GetDropped(subscription.pointer, &count) == NATS_OK
        ? state.earlierDrops + Int(count) : nil
    }
  }

  /// The number of messages of the current connection that libnats has delivered or will deliver, or `nil` without a
  /// subscription.
  var receivedCount: Int? {
    state.withLock { state in
      guard case .running(let subscription, _) = state.state else { return nil }
      var (waiting, delivered): (Int32, Int64) = (0, 0)
      let status = natsSubscription_GetStats(
        subscription.pointer, &waiting, nil, nil, nil, &delivered, nil)
      return status == NATS_OK ? Int(delivered) + Int(waiting) : nil
    }
  }

  /// Unsubscribes at the server.
  ///
  /// A callback in progress finishes.
  func end() {
    // The connection may be released as well, outside the lock.
    let running = state.withLock { state -> (CPointer, LibNATSConnection)? in
      defer { state.state = .over }
      if case .running(let subscription, let handle) = state.state { return (subscription, handle) }
      return nil
    }
    if let running { end(running) }
  }

  /// Unsubscribes if it receives over the connection.
  ///
  /// - Returns: `false` if it does not.
  func end(over handle: LibNATSConnection) -> Bool {
    let running = state.withLock { state -> (CPointer, LibNATSConnection)? in
      guard case .running(let subscription, let own) = state.state, own === handle else {
        return nil
      }
      state.state = .over
      return (subscription, own)
    }
    if let running { end(running) }
    return running != nil
  }

  private func end(_ running: (subscription: CPointer, handle: LibNATSConnection)) {
    if !running.handle.wire.isLost { running.handle.countSubscription(-1) }
    remove(running.subscription)
  }

  /// Frees the subscription on the thread of the loop, where messages are received.
  ///
  /// libnats 3.4 looks a subscription up there, and locks it without a retain.
  private func remove(_ subscription: CPointer) {
    natsSubscription_Unsubscribe(subscription.pointer)
    EventLoop.shared.perform { natsSubscription_Destroy(subscription.pointer) }
  }
}
#endif
