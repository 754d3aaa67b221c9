internal import MiniRex

/// The position from which a replica reads, until the log is known to contain it.
struct LogReading<State: Codable & Sendable>: Sendable {
  private var subscription: Subscription?
  /// Events of earlier readings are ignored.
  private(set) var number = 0
  private var isOver = false
  /// The question for the time of the log, and the comparison that it belongs to.
  private var question: (comparison: Int, subscription: Subscription?)?
  /// The number of comparisons, and of losses.
  ///
  /// An answer that belongs to an earlier comparison is ignored.
  private(set) var comparison = 0
  /// The state that replaces the replica's state if the log contains its position.
  var candidate: DecidedState<State>?
  /// A Boolean value that indicates whether the log was compared over the current connection.
  private(set) var isCompared = false
  /// A Boolean value that indicates whether entries of this reading arrived before the comparison.
  ///
  /// They are not applied, so the next connection of the reading would begin after them.
  var hasIgnored = false
  /// Entries that were missing when they were read.
  ///
  /// If the log still has earlier entries, an operator has deleted them.
  var gap: Range<UInt64>?
  /// A Boolean value that indicates whether the gap was confirmed over a later connection.
  var isDeleted = false

  /// The positions of snapshots that do not belong to the log, which would be read again and again.
  var refused: [LogPosition] = []

  /// The entries that the log has lost, and the number of its answers that no snapshot contains them.
  var lost: Range<UInt64>?
  var answers = 0

  /// Actions that were sent before a Unix second are doubtful until the replica is current.
  var doubt: Int?
  /// The entry that the log has purged, and that no newer snapshot contains.
  var missing: UInt64?
  /// A Boolean value that indicates whether the entries that the log had at the beginning of the connection were read.
  private(set) var isCurrent = false
  /// The last sequence that the log is known to have.
  private(set) var end: UInt64 = 0

  func isCurrent(_ number: Int) -> Bool { !isOver && number == self.number }

  func isCurrent(comparison: Int) -> Bool { !isOver && comparison == self.comparison }

  /// Ends a connection, or begins the comparison over the next.
  mutating func mustCompare() {
    comparison += 1
    (isCompared, isCurrent) = (false, false)
    doubt = nil
  }

  mutating func hasCompared(with log: ReplicaLogState) {
    (candidate, refused, lost, answers) = (nil, [], nil, 0)
    end = log.last
    isCompared = true
    isDeleted = gap != nil
  }

  /// Records that all entries that the log had at the beginning of the connection were read.
  mutating func hasReadAll() { if isCompared { isCurrent = true } }

  /// Records that the log has accepted an entry.
  mutating func hasAppended(_ sequence: UInt64) { if isCompared { end = max(end, sequence) } }

  /// Begins another reading, and returns its number with the subscription to release.
  mutating func begin() -> (number: Int, old: Subscription?) {
    number += 1
    (hasIgnored, gap, missing) = (false, nil, nil)
    mustCompare()
    defer { subscription = nil }
    return (number, subscription)
  }

  /// Begins to query the time of the log, unless it was queried during the current comparison.
  mutating func mustAsk() -> Bool {
    if isOver || question?.comparison == comparison { return false }
    question = (comparison, nil)
    return true
  }

  /// Returns the subscription to release.
  mutating func keepQuestion(_ subscription: Subscription, _ comparison: Int) -> Subscription? {
    if isOver || question?.comparison != comparison { return subscription }
    question?.subscription = subscription
    return nil
  }

  /// Ends the question, and returns the subscription to release.
  mutating func endQuestion() -> Subscription? {
    defer { question = nil }
    return question?.subscription
  }

  /// Returns `false` if the caller has to cancel the subscription.
  mutating func keep(_ subscription: Subscription, _ number: Int) -> Bool {
    if !isCurrent(number) { return false }
    self.subscription = subscription
    return true
  }

  /// Ends the reading, and returns the subscriptions to release.
  mutating func stop() -> [Subscription?] {
    isOver = true
    defer { (subscription, question) = (nil, nil) }
    return [subscription, question?.subscription]
  }
}
