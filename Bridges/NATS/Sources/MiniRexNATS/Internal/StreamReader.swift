internal import Dispatch
internal import MiniRex

/// Reads a stream in order, without a gap or a repetition.
///
/// The server pushes to a subject that nobody else has, and counts what it delivers. When a number is
/// missing, the connection was lost, or nothing has been heard for three heartbeats, the reader asks
/// anew, for what comes after the last message that it has passed on, on another subject: what is
/// still under way on the one before is not looked at.
final class StreamReader: Sendable {
  struct Calls: Sendable {
    /// Called with each message, and the sequence before it that was passed on.
    let receive: @Sendable (RawMessage, Place, _ last: UInt64?) -> Void
    /// Called if there is no message when the reading begins.
    let hasNothing: @Sendable () -> Void
    /// Called before the first message of a stream that was made anew.
    let isReplaced: @Sendable () -> Void
  }

  private let order: ReadingOrder
  private let link: Link
  /// `nil` once the connection has closed, which ends what is made of them.
  private let calls: Lock<Calls?>
  private let state: Lock<Reading>

  init(
    _ order: ReadingOrder, over link: Link,
    hasNothing: @escaping @Sendable () -> Void = {},
    isReplaced: @escaping @Sendable () -> Void = {},
    _ receive: @escaping @Sendable (RawMessage, Place, _ last: UInt64?) -> Void
  ) {
    self.order = order
    self.link = link
    calls = Lock(Calls(receive: receive, hasNothing: hasNothing, isReplaced: isReplaced))
    let last: UInt64? =
      if case .sequence(let sequence) = order.start { max(1, sequence) - 1 } else { nil }
    state = Lock(Reading(after: last))
  }

  /// Reads until the token ends.
  func start() -> Subscription {
    let id = link.onReturn { [weak self] in self?.restart() }
    restart()
    watch()
    let closing = link.hasClosed.publisher.subscribe { [weak self] _ in self?.linkHasClosed() }
    return Subscription { [self] in
      closing.invalidate()
      link.removeOnReturn(id)
      end()
    }
  }

  /// All that had been received has been passed on.
  private func linkHasClosed() {
    end()
    // Released after the lock.
    _ = calls.withLock { $0.take() }
  }

  private func end() { drop(state.withLock { $0.end() }) }

  private func drop(_ remains: Reading.Remains) {
    for token in remains.tokens { token?.invalidate() }
    remove(remains.consumer)
  }

  /// The server would find out by itself, in half a minute.
  private func remove(_ consumer: String?) {
    guard let consumer else { return }
    link.say("$JS.API.CONSUMER.DELETE.\(order.stream).\(consumer)")
  }

  private func keep(_ token: Subscription, _ generation: Int) {
    if !state.withLock({ $0.keep(token, generation) }) { token.invalidate() }
  }

  private func watch() {
    link.teller.asyncAfter(deadline: .now() + .milliseconds(ReadingOrder.heartbeat)) {
      [weak self] in
      guard let self else { return }
      let (isOver, isSilent) = state.withLock { state in
        (state.isOver, state.isSilent(for: 3 * ReadingOrder.heartbeat))
      }
      if isOver { return }
      if isSilent { restart() }
      watch()
    }
  }
}

extension StreamReader {
  private func restart() {
    guard let (generation, remains) = state.withLock({ $0.begin(over: link.connection) }) else {
      return
    }
    drop(remains)
    // Where it has been reading, the stream may be another one by now.
    if state.withLock({ $0.created }) == nil { return read(generation) }
    look(generation) { [weak self] in self?.read(generation) }
  }

  private func read(_ generation: Int) {
    if !state.withLock({ $0.isAt(generation) }) { return }
    let inbox = "_INBOX.minirex-1.\(UInt64.random(in: 0 ... .max).letters).\(generation)"
    let feed = link.subscribe(to: inbox, queue: nil) { [weak self] message in
      self?.take(message, generation)
    }
    keep(feed, generation)
    let next = state.withLock { $0.last.map { $0 + 1 } }
    let config = order.consumer(delivering: inbox, next: next, room: room)
    let task = link.ask(
      JetStream.Consumer.self, of: order.stream, on: "$JS.API.CONSUMER.CREATE.\(order.stream)",
      JetStream.encode(JetStream.ConsumerWish(streamName: order.stream, config: config)))
    let token = task.subscribe(
      success: { [weak self] in self?.isMade($0, generation) },
      failure: { [weak self] in self?.hasFailed($0, generation) })
    keep(token, generation)
  }

  private func isMade(_ made: JetStream.Consumer, _ generation: Int) {
    let sequence = made.delivered.streamSeq
    guard let isFirst = state.withLock({ $0.hasMade(made.name, after: sequence, generation) })
    else { return remove(made.name) }
    if isFirst, made.numPending == 0, sequence == 0 || order.skipsToLast {
      calls.withLock { $0 }?.hasNothing()
    }
    if state.withLock({ $0.created }) == nil { look(generation) {} }
  }

  /// Asks when the stream was made, and goes on: at its beginning, if it is another one than before.
  private func look(_ generation: Int, _ goOn: @escaping @Sendable () -> Void) {
    let task = link.ask(
      JetStream.Stream.self, of: order.stream, on: "$JS.API.STREAM.INFO.\(order.stream)",
      JetStream.encode(JetStream.Nothing()))
    let token = task.subscribe(
      success: { [weak self, order] stream in
        guard let self else { return }
        let isReplaced = state.withLock { state in
          state.isAt(generation)
            && state.isReplaced(by: stream.created, goingOnAfter: order.lastOfNew)
        }
        if isReplaced {
          link.tell(.replaced(stream: order.stream))
          calls.withLock { $0 }?.isReplaced()
        }
        goOn()
      },
      failure: { [weak self] error in
        if case .noStream = error { self?.hasFailed(error, generation) } else { goOn() }
      })
    keep(token, generation)
  }

  private func hasFailed(_ error: NATSError, _ generation: Int) {
    let isNews = state.withLock { $0.hasFailed(error, generation) }
    guard let isNews, error != .closed else { return }
    if isNews { link.tell(.notRead(stream: order.stream, error)) }
    link.teller.asyncAfter(deadline: .now() + .milliseconds(error == .noResponders ? 250 : 1_000)) {
      [weak self] in
      guard let self, state.withLock({ $0.isAt(generation) }) else { return }
      restart()
    }
  }
}

extension StreamReader {
  /// Half of what may wait here: then nothing is dropped, which would have to be asked for again
  /// together with all that comes after it.
  private var room: Int { min(max(1, link.options.receiveLimit / 2), 16_384) }

  /// Tells the server, now and then, that there is room again.
  private func makeRoom(after place: Place, _ message: RawMessage) {
    if place.delivered % UInt64(max(1, room / 2)) != 0 { return }
    if let subject = message.replySubject { link.say(subject, "+ACK") }
  }

  private func take(_ message: RawMessage, _ generation: Int) {
    guard let place = Place(message) else { return takeControl(message, generation) }
    let step = state.withLock { state in
      state.take(place, generation, over: link.connection, skipsKnown: order.skipsToLast)
    }
    switch step {
    case .ignore: break
    case .skip: makeRoom(after: place, message)
    case .restart: restart()
    case .pass(let last):
      calls.withLock { $0 }?.receive(message, place, last)
      if state.withLock({ $0.hasCalled() }) { return restart() }
      makeRoom(after: place, message)
    }
  }

  /// A heartbeat, or the question whether what came before has been dealt with.
  private func takeControl(_ message: RawMessage, _ generation: Int) {
    let isWell = message.header("Status") == "100"
    let counted = message.header("Nats-Last-Consumer").flatMap { UInt64($0) }
    if state.withLock({ $0.hear(counted: counted, isWell: isWell, generation) }) {
      return restart()
    }
    if let subject = message.replySubject ?? message.header("Nats-Consumer-Stalled") {
      link.say(subject)
    }
  }
}
