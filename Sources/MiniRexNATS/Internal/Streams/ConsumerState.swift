#if NATS
internal import Dispatch
internal import MiniRex

/// The position of a reader, and its decision about each message.
///
/// Each consumer that the reader makes is a generation. Messages of earlier generations are ignored.
struct ConsumerState: Sendable {
  /// The messages that the reader has processed.
  enum Position: Sendable {
    /// None.
    ///
    /// The configuration decides where to start.
    case start
    /// All up to a sequence.
    ///
    /// The time is `nil` if the reader has not received that message.
    case after(UInt64, time: UInt64?)
    /// All before a time, because the stream returned to an earlier state.
    case since(Timestamp)
  }

  enum Step {
    case ignore
    case skip
    case pass(last: UInt64?)
    case restart
  }

  /// The difference between the stream and the last message that the reader received.
  enum Finding: Sendable {
    /// The stream still has the message, or that is unknown.
    case same
    /// The stream may no longer have the message.
    case removed
    /// The message has to be compared with the stored message.
    case compare(UInt64, time: UInt64)
    /// The stream was removed, and another stream has its name.
    case replaced
    /// The stream ends before the message, or has another message with its sequence.
    case rolledBack
  }

  /// The resources of an earlier generation, to be released outside the lock.
  struct Remains: Sendable {
    var tokens: [Subscription?] = []
    var consumer: String?
  }

  private var generation = 0
  /// The connection that this generation reads over, or 0 until it has one.
  private var connection = 0
  private var tokens: [Subscription?] = []
  private var consumer: String?
  /// The number of the next delivery.
  private var expected: UInt64 = 1
  private(set) var position: Position
  /// The creation time of the stream, or `nil` until the server has reported it.
  private var created: String?
  private var heardAt: UInt64 = 0
  private var isCalling = false
  private var mustRestart = false
  private(set) var isOver = false
  private(set) var retry = ConsumerRetry()
  /// The messages that exist when the reading begins, or `nil` after they have been received.
  private var snapshot: Snapshot?

  private struct Snapshot {
    var isComplete = false
    var total: UInt64?
  }

  init(_ position: Position) { self.position = position }

  func isAt(_ generation: Int) -> Bool { !isOver && self.generation == generation }

  /// The last delivered sequence, or the sequence before the first message, or `nil` until known.
  var last: UInt64? { if case .after(let sequence, _) = position { sequence } else { nil } }

  /// A Boolean value that indicates whether the stream must be compared before the next consumer.
  var mustLookFirst: Bool { created != nil || last ?? 0 > 0 }

  var isUnknown: Bool { created == nil }

  /// Returns `true` after a silence of that length, unless the subscriber is slow.
  func isSilent(for milliseconds: Int) -> Bool {
    let now = now()
    return !isCalling && (now - min(now, heardAt)) / 1_000_000 > UInt64(milliseconds)
  }

  /// Returns `nil` if the reader has stopped, or has to restart after the current callback.
  mutating func begin(over connection: Int) -> (generation: Int, Remains)? {
    if isOver { return nil }
    if isCalling {
      mustRestart = true
      return nil
    }
    generation += 1
    self.connection = connection
    expected = 1
    heardAt = now()
    snapshot = nil
    return (generation, takeRemains())
  }

  mutating func end() -> Remains {
    isOver = true
    return takeRemains()
  }

  private mutating func takeRemains() -> Remains {
    defer { (tokens, consumer) = ([], nil) }
    return Remains(tokens: tokens, consumer: consumer)
  }

  /// Returns `false` if the caller has to cancel the subscription.
  mutating func keep(_ token: Subscription, _ generation: Int) -> Bool {
    if !isAt(generation) { return false }
    tokens.append(token)
    return true
  }

  mutating func beginSnapshot(_ generation: Int) {
    if isAt(generation) { snapshot = Snapshot() }
  }

  /// Returns `nil` if the consumer belongs to an earlier generation.
  ///
  /// - Returns: `true` if the snapshot is complete.
  mutating func hasMade(_ made: JetStream.Consumer, _ generation: Int) -> Bool? {
    if !isAt(generation) { return nil }
    consumer = made.name
    retry.hasSucceeded()
    // A message that arrived before this reply has set the position.
    if expected == 1 {
      switch position {
      case .start, .since: position = .after(made.delivered.streamSeq, time: nil)
      case .after: break
      }
    }
    snapshot?.total = made.numPending &+ made.delivered.consumerSeq
    return completesSnapshot()
  }

  /// Returns `true` once, after the last message of the snapshot.
  private mutating func completesSnapshot() -> Bool {
    guard let current = snapshot, !isCalling,
      current.isComplete || current.total.map({ $0 < expected }) ?? false
    else { return false }
    snapshot = nil
    return true
  }

  /// Remembers when the stream was created.
  mutating func learn(_ stream: JetStream.Stream, _ generation: Int) {
    if isAt(generation), created == nil { created = stream.created }
  }

  /// Compares the stream with the last message, and moves the position if it is not the same stream.
  mutating func compare(_ stream: JetStream.Stream, isBucket: Bool) -> Finding {
    defer { created = stream.created }
    if let created, created != stream.created {
      position = isBucket ? .start : .after(0, time: nil)
      return .replaced
    }
    guard case .after(let sequence, let time) = position, sequence > 0 else { return .same }
    if stream.state.lastSeq < sequence {
      rollBack(to: stream.state.lastSeq, isBucket: isBucket)
      return .rolledBack
    }
    if sequence < stream.state.firstSeq { return .removed }
    return time.map { .compare(sequence, time: $0) } ?? .same
  }

  /// Continues with the messages that were appended after the last message.
  mutating func rollBack(to sequence: UInt64, isBucket: Bool) {
    position =
      if isBucket {
        .start
      } else if case .after(_, let time?) = position {
        .since(Timestamp(nanoseconds: Int64(clamping: time) &+ 1))
      } else {
        .after(sequence, time: nil)
      }
  }

  /// Returns `true` if the failure is new, and `nil` if it does not matter.
  mutating func hasFailed(_ error: NATSError, _ generation: Int) -> Bool? {
    isAt(generation) ? retry.hasFailed(error) : nil
  }

  /// Decides about a message, and moves the position to it.
  ///
  /// - Parameter isBucket: A Boolean value that indicates whether older messages are delivered.
  mutating func take(
    _ place: MessageMetadata, _ generation: Int, over connection: Int, isBucket: Bool
  ) -> Step {
    if !isAt(generation) { return .ignore }
    // The server continues over the next connection with the consumers of an earlier one. The reader
    // is about to make another.
    if self.connection == 0 { self.connection = connection }
    if self.connection != connection { return .ignore }
    heardAt = now()
    if place.delivered != expected { return .restart }
    expected += 1
    if place.pending == 0 { snapshot?.isComplete = true }
    let last = last
    if let last, place.sequence <= last {
      if !isBucket { return .skip }
    } else {
      position = .after(place.sequence, time: place.nanoseconds)
    }
    isCalling = true
    return .pass(last: last)
  }

  /// Ends a callback, and returns the next steps.
  mutating func hasCalled() -> (mustRestart: Bool, completesSnapshot: Bool) {
    isCalling = false
    heardAt = now()
    defer { mustRestart = false }
    return (mustRestart, !mustRestart && completesSnapshot())
  }

  /// Takes a heartbeat or an answer of the server, and returns the next steps.
  ///
  /// - Parameters:
  ///   - counted: The number of deliveries, if the server reports it.
  ///   - isWell: `false` if the reader needs another consumer.
  ///   - isIdle: A Boolean value that indicates whether the server has no undelivered message now.
  mutating func takeControl(
    counted: UInt64?, isWell: Bool, isIdle: Bool, _ generation: Int
  ) -> (mustRestart: Bool, completesSnapshot: Bool) {
    if !isAt(generation) { return (false, false) }
    heardAt = now()
    if !isWell || counted.map({ $0 >= expected }) ?? false { return (true, false) }
    if isIdle { snapshot?.isComplete = true }
    return (false, completesSnapshot())
  }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
#endif
