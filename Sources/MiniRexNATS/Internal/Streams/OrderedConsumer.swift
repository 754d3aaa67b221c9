#if NATS
internal import Dispatch
internal import MiniRex

/// Reads a stream in order, without a gap or a repetition.
///
/// The server pushes to a private subject and numbers its deliveries. The reader creates a new
/// consumer on another subject when a number is missing, when the connection was lost, and after
/// three missed heartbeats. Before that it compares the stream with the last message that it
/// received, because the stream may have been replaced or restored.
final class OrderedConsumer: Sendable {
  /// The reason for a new consumer.
  enum Beginning: Sendable {
    case first
    case again(isRemoved: Bool)
    case replaced
    case rolledBack
  }

  struct Calls: Sendable {
    /// Called with each message and with the delivered sequence before it.
    let receive: @Sendable (RawMessage, MessageMetadata, _ last: UInt64?) -> Void
    /// Called before the first message of each consumer.
    var begins: @Sendable (Beginning, _ isSnapshot: Bool) -> Void = { _, _ in }
    /// Called after the messages that existed at the beginning of a snapshot, or of a reading with `reportsEnd`.
    var hasSnapshot: @Sendable () -> Void = {}
    /// Called with the time of the server less the time of this process.
    var measures: @Sendable (_ offset: Int64) -> Void = { _ in }
    /// Called with each report about the stream.
    var learns: @Sendable (JetStream.Stream) -> Void = { _ in }
  }

  private let order: ConsumerConfig
  private let core: ConnectionCore
  /// `nil` after the connection has closed, which finishes the publishers.
  private let calls: Lock<Calls?>
  private let state: Lock<ConsumerState>
  private let room: ConsumerRoom

  init(_ order: ConsumerConfig, over core: ConnectionCore, _ calls: Calls) {
    self.order = order
    self.core = core
    self.calls = Lock(calls)
    let position: ConsumerState.Position =
      if case .sequence(let sequence) = order.start {
        .after(max(1, sequence) - 1, time: nil)
      } else {
        .start
      }
    state = Lock(ConsumerState(position))
    room = ConsumerRoom(receiveLimit: core.options.receiveLimit)
  }

  /// Reads until the subscription is canceled.
  func start() -> Subscription {
    let id = core.onReturn { [weak self] in self?.restart() }
    // The first consumer knows the limit of a suspending subscriber.
    ReadAhead.afterConnection { self.restart() }
    watch()
    let closing = core.hasClosed.publisher.subscribe { [weak self] _ in self?.connectionHasClosed()
    }
    return room.flow.subscription { [self] in
      closing.invalidate()
      core.removeOnReturn(id)
      end()
    }
  }

  /// Runs after all received messages were delivered.
  private func connectionHasClosed() {
    end()
    // Release outside the lock.
    _ = calls.withLock { $0.take() }
  }

  private func end() { drop(state.withLock { $0.end() }) }

  private func drop(_ remains: ConsumerState.Remains) {
    for token in remains.tokens { token?.invalidate() }
    remove(remains.consumer)
  }

  /// Without this the server removes the consumer after half a minute.
  private func remove(_ consumer: String?) {
    guard let consumer else { return }
    core.sendText(order.stream.subject("CONSUMER.DELETE", consumer: consumer))
  }

  private func keep(_ token: Subscription, _ generation: Int) {
    if !state.withLock({ $0.keep(token, generation) }) { token.invalidate() }
  }

  private func watch() {
    core.maintenance.asyncAfter(deadline: .now() + .milliseconds(ConsumerConfig.heartbeat)) {
      [weak self] in
      guard let self else { return }
      let (isOver, isSilent) = state.withLock { state in
        (state.isOver, state.isSilent(for: 3 * ConsumerConfig.heartbeat))
      }
      if isOver { return }
      if isSilent { restart() }
      watch()
    }
  }
}

extension OrderedConsumer {
  private func restart() {
    guard let (generation, remains) = state.withLock({ $0.begin(over: core.connection) }) else {
      return
    }
    drop(remains)
    if state.withLock({ $0.mustLookFirst }) { return look(generation) }
    read(generation, .first)
  }

  /// Compares the stream with the last message, and continues reading.
  private func look(_ generation: Int) {
    let timeout = state.withLock { $0.retry.timeout }
    let token = core.streamInfo(order.stream, timeout: timeout).subscribe(
      success: { [weak self, order] stream in
        guard let self else { return }
        let last = state.withLock { $0.last } ?? 0
        if stream.state.lastSeq < last, stream.cluster?.mayBeOutdated == true {
          return hasFailed(.noResponders, generation)
        }
        calls.withLock { $0 }?.learns(stream)
        let finding = state.withLock { state in
          state.isAt(generation) ? state.compare(stream, isBucket: order.isBucket) : .same
        }
        switch finding {
        case .same: read(generation, .again(isRemoved: false))
        case .removed: read(generation, .again(isRemoved: true))
        case .replaced:
          core.report(.replaced(stream: order.stream.name))
          read(generation, .replaced)
        case .rolledBack: hasRolledBack(to: stream.state.lastSeq, generation)
        case .compare(let sequence, let time): compare(sequence, time, with: stream, generation)
        }
      },
      failure: { [weak self] error in
        guard let self else { return }
        if case .noStream = error { return hasFailed(error, generation) }
        hasNotLooked(error, generation)
      })
    keep(token, generation)
  }

  /// Compares the time of a message with the stored message of its sequence.
  private func compare(
    _ sequence: UInt64, _ time: UInt64, with stream: JetStream.Stream, _ generation: Int
  ) {
    let timeout = state.withLock { $0.retry.timeout }
    let token = core.stored(.sequence(sequence), in: order.stream, timeout: timeout).subscribe(
      success: { [weak self, order] stored in
        guard let self else { return }
        if Timestamp(stored.time).map({ $0.nanoseconds == Int64(clamping: time) }) ?? true {
          return read(generation, .again(isRemoved: false))
        }
        state.withLock { state in
          if state.isAt(generation) {
            state.rollBack(to: stream.state.lastSeq, isBucket: order.isBucket)
          }
        }
        hasRolledBack(to: stream.state.lastSeq, generation)
      },
      failure: { [weak self] error in
        guard let self else { return }
        if error.isMissingMessage { return read(generation, .again(isRemoved: true)) }
        hasNotLooked(error, generation)
      })
    keep(token, generation)
  }

  /// Looks again after a short timeout, and continues without a comparison if that cannot help.
  private func hasNotLooked(_ error: NATSError, _ generation: Int) {
    if error == .timedOut, !state.withLock({ $0.retry.isHopeless }) {
      return hasFailed(error, generation)
    }
    read(generation, .again(isRemoved: false))
  }

  private func hasRolledBack(to sequence: UInt64, _ generation: Int) {
    if !state.withLock({ $0.isAt(generation) }) { return }
    core.report(.rolledBack(stream: order.stream.name, to: sequence))
    read(generation, .rolledBack)
  }

  /// Reads a bucket again from its start, which returned to an earlier state.
  func rollBack(to sequence: UInt64) {
    guard let (generation, remains) = state.withLock({ $0.begin(over: core.connection) }) else {
      return
    }
    drop(remains)
    state.withLock { state in
      if state.isAt(generation) { state.rollBack(to: sequence, isBucket: order.isBucket) }
    }
    hasRolledBack(to: sequence, generation)
  }

  private func read(_ generation: Int, _ beginning: Beginning) {
    guard let position = state.withLock({ $0.isAt(generation) ? $0.position : nil }) else { return }
    let isSnapshot =
      if case .start = position { order.isBucket } else { order.rereadsLast }
    if isSnapshot || order.reportsEnd { state.withLock { $0.beginSnapshot(generation) } }
    calls.withLock { $0 }?.begins(beginning, isSnapshot)
    let inbox =
      "\(core.options.inboxPrefix).minirex-1.\(UInt64.random(in: 0 ... .max).letters).\(generation)"
    let subscription = core.subscribe(to: inbox, queue: nil) { [weak self] message in
      self?.take(message, generation)
    }
    keep(subscription, generation)
    // The new consumer sends messages ahead of those that an earlier consumer sent.
    room.flow.whenRoom(for: room.next) { [weak self] in self?.create(generation, inbox, position) }
  }

  private func create(_ generation: Int, _ inbox: String, _ position: ConsumerState.Position) {
    if !state.withLock({ $0.isAt(generation) }) { return }
    let granted = room.grant()
    let config = order.consumer(delivering: inbox, from: position, room: granted)
    let task = core.ask(
      JetStream.Consumer.self, order.stream, on: order.stream.subject("CONSUMER.CREATE"),
      JetStream.encode(JetStream.ConsumerRequest(streamName: order.stream.name, config: config)),
      timeout: state.withLock { $0.retry.timeout })
    let token = task.subscribe(
      success: { [weak self] in self?.hasMade($0, generation) },
      failure: { [weak self] error in
        guard let self else { return }
        if let limit = error.limitOfUnacknowledged(below: granted) {
          room.reduce(to: limit)
          return create(generation, inbox, position)
        }
        hasFailed(error, generation)
      })
    keep(token, generation)
  }

  private func hasMade(_ made: JetStream.Consumer, _ generation: Int) {
    guard let completesSnapshot = state.withLock({ $0.hasMade(made, generation) }) else {
      return remove(made.name)
    }
    let calls = calls.withLock { $0 }
    if let created = Timestamp(made.created) {
      calls?.measures(created.nanoseconds &- Timestamp.now.nanoseconds)
    }
    if completesSnapshot { calls?.hasSnapshot() }
    if state.withLock({ $0.isUnknown }) { learn(generation) }
  }

  /// Learns when the stream was created.
  ///
  /// Messages may arrive concurrently, so nothing is compared.
  private func learn(_ generation: Int) {
    let token = core.streamInfo(order.stream).subscribe(
      success: { [weak self] stream in
        guard let self else { return }
        state.withLock { $0.learn(stream, generation) }
        calls.withLock { $0 }?.learns(stream)
      }, failure: { _ in })
    keep(token, generation)
  }

  private func hasFailed(_ error: NATSError, _ generation: Int) {
    let isNew = state.withLock { $0.hasFailed(error, generation) }
    guard let isNew, error != .closed else { return }
    if isNew { core.report(.notRead(stream: order.stream.name, error)) }
    core.maintenance.asyncAfter(
      deadline: .now() + .milliseconds(ConsumerRetry.milliseconds(after: error))
    ) { [weak self] in
      guard let self, state.withLock({ $0.isAt(generation) }) else { return }
      restart()
    }
  }
}

extension OrderedConsumer {
  /// Acknowledges from time to time, so that the server sends further messages.
  private func makeRoom(after place: MessageMetadata, _ message: RawMessage, _ generation: Int) {
    switch room.step(after: place.delivered) {
    case .proceed: break
    case .restart: restart()
    case .acknowledge:
      guard let subject = message.replySubject else { return }
      room.whenFree { [weak self, core] in
        if let self, state.withLock({ $0.isAt(generation) }) { core.sendText(subject, "+ACK") }
      }
    }
  }

  private func take(_ message: RawMessage, _ generation: Int) {
    guard let place = MessageMetadata(message) else { return takeControl(message, generation) }
    let step = state.withLock { state in
      state.take(place, generation, over: core.connection, isBucket: order.isBucket)
    }
    switch step {
    case .ignore: break
    case .skip: makeRoom(after: place, message, generation)
    case .restart: restart()
    case .pass(let last):
      let calls = calls.withLock { $0 }
      calls?.receive(message, place, last)
      let (mustRestart, completesSnapshot) = state.withLock { $0.hasCalled() }
      if mustRestart { return restart() }
      makeRoom(after: place, message, generation)
      if completesSnapshot { calls?.hasSnapshot() }
    }
  }

  /// Handles a heartbeat, or a request for flow control.
  private func takeControl(_ message: RawMessage, _ generation: Int) {
    let isWell = message.header("Status") == "100"
    let counted = message.header("Nats-Last-Consumer").flatMap { UInt64($0) }
    let stalled = message.header("Nats-Consumer-Stalled")
    let (mustRestart, completesSnapshot) = state.withLock { state in
      state.takeControl(
        counted: counted, isWell: isWell, isIdle: counted != nil && stalled == nil, generation)
    }
    if mustRestart { return restart() }
    if completesSnapshot { calls.withLock { $0 }?.hasSnapshot() }
    if let subject = message.replySubject ?? stalled { core.sendText(subject) }
  }
}
#endif
