#if NATS
internal import Dispatch
internal import MiniRex

/// Reads a stream after a known message, and examines the stream at the beginning of each connection.
///
/// An ordered consumer would continue over the next connection before the subscriber has compared the stream. So each
/// connection has a separate consumer, and messages of other connections are ignored.
final class LogReader: Sendable {
  private struct State: EmittingState {
    /// The number of attempts to read.
    var generation = 0
    /// The connection of the attempt.
    var connection = 0
    /// The sequence of the last emitted message.
    var last: UInt64
    var subscriptions: [Subscription] = []
    var isOver = false
    var retry = ConsumerRetry()
    var outgoing = OutgoingEvents<NATSLogEvent>()

    func isAt(_ generation: Int) -> Bool { !isOver && generation == self.generation }
  }

  private let stream: NATSStream
  private let state: Lock<State>
  private let receive: @Sendable (NATSLogEvent) -> Void
  private var core: ConnectionCore { stream.core }

  init(
    _ stream: NATSStream, after sequence: UInt64,
    _ receive: @escaping @Sendable (NATSLogEvent) -> Void
  ) {
    (self.stream, self.receive) = (stream, receive)
    state = Lock(State(last: sequence))
  }

  /// Reads until the subscription is canceled.
  func start() -> Subscription {
    let id = core.onReturn { [weak self] in self?.connect() }
    let connecting = core.isConnected.publisher.subscribe { [weak self] isConnected in
      if isConnected { self?.connect() } else { self?.disconnect() }
    }
    return Subscription { [self] in
      connecting.invalidate()
      core.removeOnReturn(id)
      end()
    }
  }

  private func end() {
    let old = state.withLock { state in
      state.isOver = true
      state.outgoing.removeAll()
      defer { state.subscriptions = [] }
      return state.subscriptions
    }
    for subscription in old { subscription.invalidate() }
  }

  private func connect() {
    let connection = core.connection
    if state.withLock({ $0.connection }) != connection { begin() }
  }

  private func disconnect() {
    let old: [Subscription] = state.emitting(receive) { state in
      if state.isOver || state.connection == 0 { return [] }
      state.generation += 1
      state.connection = 0
      state.outgoing.append(.disconnected)
      defer { state.subscriptions = [] }
      return state.subscriptions
    }
    for subscription in old { subscription.invalidate() }
  }

  /// Begins an attempt over the current connection.
  private func begin() {
    let connection = core.connection
    let (generation, last, timeout, old) = state.withLock { state in
      state.generation += 1
      state.connection = connection
      defer { state.subscriptions = [] }
      return (state.generation, state.last, state.retry.timeout, state.subscriptions)
    }
    for subscription in old { subscription.invalidate() }
    keep(
      stream.examine(at: last, timeout: timeout).subscribe(
        success: { [weak self] examined in self?.read(examined, generation, connection) },
        failure: { [weak self] error in self?.hasFailed(error, generation) }), generation)
  }

  private func keep(_ subscription: Subscription, _ generation: Int) {
    let isKept = state.withLock { state in
      if state.isAt(generation) { state.subscriptions.append(subscription) }
      return state.isAt(generation)
    }
    if !isKept { subscription.invalidate() }
  }

  private func read(
    _ examined: (state: NATSLogState, unsuitable: String?), _ generation: Int, _ connection: Int
  ) {
    let last: UInt64? = state.emitting(receive) { state in
      // The answer may have arrived over the next connection.
      if !state.isAt(generation) || core.connection != connection { return nil }
      state.retry.hasSucceeded()
      if let reason = examined.unsuitable {
        state.outgoing.append(.unsuitable(reason))
        return nil
      }
      state.outgoing.append(.connected(examined.state))
      return state.last
    }
    // The subscriber may have ended the reading with the first event.
    guard let last, examined.state.last >= last, state.withLock({ $0.isAt(generation) }) else {
      return
    }
    let hasBegun = Lock(false)
    let calls = OrderedConsumer.Calls(
      receive: { [weak self] message, place, _ in
        self?.take(message, place, generation, connection)
      },
      begins: { [weak self] beginning, _ in
        let isAgain = hasBegun.withLock { hasBegun in
          defer { hasBegun = true }
          return hasBegun
        }
        switch beginning {
        case .replaced, .rolledBack: self?.restart(generation)
        // A consumer that has received nothing cannot compare the stream when it begins again.
        case .first, .again: if isAgain { self?.restart(generation) }
        }
      },
      hasSnapshot: { [weak self] in self?.hasReadAll(generation) })
    let order = ConsumerConfig(stream: stream.id, start: .sequence(last.next), reportsEnd: true)
    keep(OrderedConsumer(order, over: core, calls).start(), generation)
  }

  private func take(
    _ message: RawMessage, _ place: MessageMetadata, _ generation: Int, _ connection: Int
  ) {
    let new = NATSLogMessage(message, place, over: core)
    state.emitting(receive) { state in
      if !state.isAt(generation) || core.connection != connection { return }
      state.last = new.sequence
      state.outgoing.append(.message(new))
    }
  }

  private func hasReadAll(_ generation: Int) {
    state.emitting(receive) { if $0.isAt(generation) { $0.outgoing.append(.current) } }
  }

  /// Examines the stream again, which another stream has replaced during the connection.
  private func restart(_ generation: Int) {
    let isCurrent = state.withLock { state in
      defer { if state.isAt(generation) { state.generation += 1 } }
      return state.isAt(generation)
    }
    if isCurrent { core.maintenance.async { [weak self] in self?.begin() } }
  }

  private func hasFailed(_ error: NATSError, _ generation: Int) {
    let isNew = state.withLock { $0.retry.hasFailed(error) }
    if isNew { core.report(.notRead(stream: stream.name, error)) }
    core.maintenance.asyncAfter(
      deadline: .now() + .milliseconds(ConsumerRetry.milliseconds(after: error))
    ) { [weak self] in
      guard let self, state.withLock({ $0.isAt(generation) }) else { return }
      begin()
    }
  }
}
#endif
