internal import Dispatch
internal import MiniRex

/// Where a reader is, and what it does with what comes.
///
/// Each time that it asks anew is a generation.
struct Reading: Sendable {
  enum Step {
    case ignore
    case skip
    case pass(last: UInt64?)
    case restart
  }

  /// What an earlier generation had, to be ended after the lock.
  struct Remains: Sendable {
    var tokens: [Subscription?] = []
    var consumer: String?
  }

  private var generation = 0
  /// The connection that this generation reads over; 0 until there is one.
  private var connection = 0
  private var tokens: [Subscription?] = []
  private var consumer: String?
  /// What the server is to count next.
  private var expected: UInt64 = 1
  /// The last sequence that was passed on, or stands before the first; `nil` until that is known.
  private(set) var last: UInt64?
  /// When the stream was made; `nil` until the server has said.
  private(set) var created: String?
  private var heardAt: UInt64 = 0
  private var isCalling = false
  private var mustRestart = false
  private(set) var isOver = false
  private var failure: NATSError?

  init(after last: UInt64?) { self.last = last }

  func isAt(_ generation: Int) -> Bool { !isOver && self.generation == generation }

  /// Nothing has been heard for so many milliseconds, and not because the subscriber is slow.
  func isSilent(for milliseconds: Int) -> Bool {
    let now = now()
    return !isCalling && (now - min(now, heardAt)) / 1_000_000 > UInt64(milliseconds)
  }

  /// `nil` if it is over, or calls just now and begins after that.
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

  /// False if the token is to be ended.
  mutating func keep(_ token: Subscription, _ generation: Int) -> Bool {
    if !isAt(generation) { return false }
    tokens.append(token)
    return true
  }

  /// The server has made what reads; `nil` if that is of no use any more, or if it was the first one.
  mutating func hasMade(_ name: String, after sequence: UInt64, _ generation: Int) -> Bool? {
    if !isAt(generation) { return nil }
    consumer = name
    failure = nil
    let isFirst = last == nil
    // What has come before this answer has said it already.
    if isFirst, expected == 1 { last = sequence }
    return isFirst
  }

  /// True if the stream is another one than before, which is read from where a reader of `last` is.
  mutating func isReplaced(by created: String, goingOnAfter last: UInt64?) -> Bool {
    defer { self.created = created }
    if self.created ?? created == created { return false }
    self.last = last
    return true
  }

  /// True if it has not failed like this before; `nil` if that does not matter.
  mutating func hasFailed(_ error: NATSError, _ generation: Int) -> Bool? {
    if !isAt(generation) { return nil }
    defer { failure = error }
    return failure != error
  }

  /// - Parameter skipsKnown: If it has gone back to the last of a subject, which may be known already.
  mutating func take(
    _ place: Place, _ generation: Int, over connection: Int, skipsKnown: Bool
  ) -> Step {
    if !isAt(generation) { return .ignore }
    // What an earlier connection has asked for, the server goes on with over the next one; this
    // reader is about to ask anew.
    if self.connection == 0 { self.connection = connection }
    if self.connection != connection { return .ignore }
    heardAt = now()
    if place.delivered != expected { return .restart }
    expected += 1
    if skipsKnown, let last, place.sequence <= last { return .skip }
    defer { last = place.sequence }
    isCalling = true
    return .pass(last: last)
  }

  /// True if it has to begin anew now.
  mutating func hasCalled() -> Bool {
    isCalling = false
    heardAt = now()
    defer { mustRestart = false }
    return mustRestart
  }

  /// True if something is missing.
  ///
  /// - Parameter counted: How many the server has delivered, if it says so.
  mutating func hear(counted: UInt64?, isWell: Bool, _ generation: Int) -> Bool {
    if !isAt(generation) { return false }
    heardAt = now()
    return !isWell || counted.map { $0 >= expected } ?? false
  }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
