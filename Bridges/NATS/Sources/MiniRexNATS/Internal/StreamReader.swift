internal import Dispatch
internal import MiniRex

/// Reads a stream in order, without a gap or a repetition.
///
/// The server pushes to a subject that nobody else has, and counts what it delivers. When a number is
/// missing, the connection was lost, or nothing has been heard for three heartbeats, the reader asks
/// anew, for what comes after the last message that it has passed on, on another subject: what is
/// still under way on the one before is not looked at.
final class StreamReader: Sendable {
  private struct State: Sendable {
    var generation = 0
    /// The connection that this generation reads over; 0 until there is one.
    var connection = 0
    var feed: Subscription?
    var asking: Subscription?
    var consumer: String?
    /// What the server is to count next.
    var expected: UInt64 = 1
    /// The last sequence that was passed on, or stands before the first; `nil` until that is known.
    var last: UInt64?
    var heardAt: UInt64 = 0
    var isCalling = false
    var mustRestart = false
    var isOver = false
    var failure: NATSError?
  }

  private enum Step {
    case ignore
    case skip
    case pass(last: UInt64?)
    case restart
  }

  private let order: ReadingOrder
  private let link: Link
  private struct Calls: Sendable {
    let receive: @Sendable (RawMessage, Place, _ last: UInt64?) -> Void
    let hasNothing: @Sendable () -> Void
  }

  /// `nil` once the connection has closed, which ends what is made of them.
  private let calls: Lock<Calls?>
  private let state: Lock<State>

  /// - Parameters:
  ///   - receive: Called with each message, and the sequence before it that was passed on.
  ///   - hasNothing: Called if there is no message when the reading begins.
  init(
    _ order: ReadingOrder, over link: Link,
    hasNothing: @escaping @Sendable () -> Void = {},
    _ receive: @escaping @Sendable (RawMessage, Place, _ last: UInt64?) -> Void
  ) {
    self.order = order
    self.link = link
    calls = Lock(Calls(receive: receive, hasNothing: hasNothing))
    var state = State()
    if case .sequence(let sequence) = order.start { state.last = max(1, sequence) - 1 }
    self.state = Lock(state)
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

  private func end() {
    let (tokens, consumer) = state.withLock { state in
      state.isOver = true
      defer {
        state.feed = nil
        state.asking = nil
        state.consumer = nil
      }
      return ([state.feed, state.asking], state.consumer)
    }
    for token in tokens { token?.invalidate() }
    remove(consumer)
  }

  /// The server would find out by itself, in half a minute.
  private func remove(_ consumer: String?) {
    guard let consumer else { return }
    link.say("$JS.API.CONSUMER.DELETE.\(order.stream).\(consumer)")
  }

  private func restart() {
    let begun = state.withLock { state -> (Int, [Subscription?], String?, UInt64?)? in
      if state.isOver { return nil }
      if state.isCalling {
        state.mustRestart = true
        return nil
      }
      state.generation += 1
      state.connection = link.connection
      state.expected = 1
      state.heardAt = now()
      defer {
        state.feed = nil
        state.asking = nil
        state.consumer = nil
      }
      return (
        state.generation, [state.feed, state.asking], state.consumer, state.last.map { $0 + 1 }
      )
    }
    guard let (generation, old, consumer, next) = begun else { return }
    for token in old { token?.invalidate() }
    remove(consumer)
    let inbox = "_INBOX.minirex-1.\(UInt64.random(in: 0 ... .max).letters).\(generation)"
    let feed = link.subscribe(to: inbox, queue: nil) { [weak self] message in
      self?.take(message, generation)
    }
    keep(feed, as: \.feed, generation)
    ask(order.consumer(delivering: inbox, next: next, room: room), generation)
  }

  private func keep(
    _ token: Subscription, as path: any WritableKeyPath<State, Subscription?> & Sendable,
    _ generation: Int
  ) {
    let isKept = state.withLock { state in
      if state.isOver || state.generation != generation { return false }
      state[keyPath: path] = token
      return true
    }
    if !isKept { token.invalidate() }
  }

  private struct Wish: Encodable {
    let streamName: String
    let config: ReadingOrder.Config
  }

  private struct Made: Decodable, Sendable {
    struct Position: Decodable, Sendable {
      let streamSeq: UInt64
    }

    let name: String
    let numPending: UInt64
    let delivered: Position
  }

  private func ask(_ config: ReadingOrder.Config, _ generation: Int) {
    let task = link.ask(
      Made.self, of: order.stream, on: "$JS.API.CONSUMER.CREATE.\(order.stream)",
      JetStream.encode(Wish(streamName: order.stream, config: config)))
    let token = task.subscribe(
      success: { [weak self] in self?.isMade($0, generation) },
      failure: { [weak self] in self?.hasFailed($0, generation) })
    keep(token, as: \.asking, generation)
  }

  private func isMade(_ made: Made, _ generation: Int) {
    let (isKnown, isFirst) = state.withLock { state in
      if state.isOver || state.generation != generation { return (false, false) }
      state.consumer = made.name
      state.failure = nil
      let isFirst = state.last == nil
      // What has come before this answer has said it already.
      if isFirst, state.expected == 1 { state.last = made.delivered.streamSeq }
      return (true, isFirst)
    }
    if !isKnown { return remove(made.name) }
    if isFirst, made.numPending == 0, made.delivered.streamSeq == 0 || order.skipsToLast {
      calls.withLock { $0 }?.hasNothing()
    }
  }

  private func hasFailed(_ error: NATSError, _ generation: Int) {
    let isNews = state.withLock { state -> Bool? in
      if state.isOver || state.generation != generation { return nil }
      defer { state.failure = error }
      return state.failure != error
    }
    guard let isNews, error != .closed else { return }
    if isNews { link.tell(.notRead(stream: order.stream, error)) }
    link.teller.asyncAfter(deadline: .now() + .milliseconds(error == .noResponders ? 250 : 1_000)) {
      [weak self] in
      guard let self, state.withLock({ $0.generation == generation }) else { return }
      restart()
    }
  }

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
    let step = state.withLock { state -> Step in
      if state.isOver || state.generation != generation { return .ignore }
      // What an earlier connection has asked for, the server goes on with over the next one; this
      // reader is about to ask anew.
      let connection = link.connection
      if state.connection == 0 { state.connection = connection }
      if state.connection != connection { return .ignore }
      state.heardAt = now()
      if place.delivered != state.expected { return .restart }
      state.expected += 1
      // After a return to the last of a subject, that may be known already.
      if order.skipsToLast, let last = state.last, place.sequence <= last { return .skip }
      defer { state.last = place.sequence }
      state.isCalling = true
      return .pass(last: state.last)
    }
    switch step {
    case .ignore: break
    case .skip: makeRoom(after: place, message)
    case .restart: restart()
    case .pass(let last):
      calls.withLock { $0 }?.receive(message, place, last)
      let mustRestart = state.withLock { state in
        state.isCalling = false
        state.heardAt = now()
        defer { state.mustRestart = false }
        return state.mustRestart
      }
      if mustRestart { return restart() }
      makeRoom(after: place, message)
    }
  }

  /// A heartbeat, or the question whether what came before has been dealt with.
  private func takeControl(_ message: RawMessage, _ generation: Int) {
    let status = message.header("Status")
    let counted = message.header("Nats-Last-Consumer").flatMap { UInt64($0) }
    let mustRestart = state.withLock { state in
      if state.isOver || state.generation != generation { return false }
      state.heardAt = now()
      return status != "100" || counted.map { $0 >= state.expected } ?? false
    }
    if mustRestart { return restart() }
    if let subject = message.replySubject ?? message.header("Nats-Consumer-Stalled") {
      link.say(subject)
    }
  }

  private func watch() {
    link.teller.asyncAfter(deadline: .now() + .milliseconds(ReadingOrder.heartbeat)) {
      [weak self] in
      guard let self else { return }
      let (isOver, isSilent) = state.withLock { state in
        let silence = (now() - min(now(), state.heardAt)) / 1_000_000
        return (state.isOver, !state.isCalling && silence > UInt64(3 * ReadingOrder.heartbeat))
      }
      if isOver { return }
      if isSilent { restart() }
      watch()
    }
  }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

extension Link {
  /// Says something without content, of which it does not matter if it is lost.
  func say(_ subject: String, _ text: String = "") {
    var text = text
    text.withUTF8 { bytes in
      try? publish(
        Outgoing(subject: subject, headers: [:], bytes: UnsafeRawBufferPointer(bytes)))
    }
  }
}
