internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An action without a decision.
struct PendingAction<Action: Sendable>: Sendable {
  let number: Int
  let line: Data
  let action: Action
  /// The number of foreign actions in the state that it was applied to.
  let foreign: Int
  let source: TaskSource<ReplicaConfirmation, ReplicaError>?
  /// The time of the send.
  let date: Date
  /// The Unix second at which it was sent first, or `nil` if no log can contain it.
  var sentAt: Int?
}

/// The pending actions of one origin, with consecutive numbers, and the part of them that is in flight.
struct PendingActions<Action: Sendable>: Sendable {
  private(set) var actions: [PendingAction<Action>] = []
  private(set) var next: Int
  /// The number of foreign actions that were decided.
  var foreign = 0
  /// The highest number that was sent over the current connection.
  private var sent = 0
  /// The highest number that may be sent, because its line is durable.
  private(set) var durable: Int
  private var inFlight = 0
  /// The number of the current connection.
  private(set) var connection = 0
  private(set) var isConnected = false
  /// The error of later sends, or `nil` before the end.
  private(set) var ending: ReplicaError?
  /// A Boolean value that indicates whether entries were sent again since the last decision.
  private var hasResent = false
  /// The reported refusal.
  private var refusal: ReplicaLogError?

  var isClosed: Bool { ending != nil }

  /// The number of the first pending action, or of the next action.
  var undecided: Int { actions.first?.number ?? next }

  static var window: Int { 512 }
  static var batchSize: Int { 64 << 10 }

  init(next: Int, actions: [PendingAction<Action>] = [], durable: Int = .max) {
    (self.next, self.actions, self.durable) = (next, actions, durable)
  }

  mutating func isDurable(through number: Int) { durable = max(durable, number) }

  mutating func append(
    _ action: Action, _ line: Data, _ source: TaskSource<ReplicaConfirmation, ReplicaError>?
  ) {
    actions.append(
      PendingAction(
        number: next, line: line, action: action, foreign: foreign, source: source, date: Date()))
    next += 1
  }

  /// Removes the actions up to a number, and returns them.
  mutating func removeFirst(through number: Int) -> ArraySlice<PendingAction<Action>> {
    let count = actions.prefix { $0.number <= number }.count
    if count == 0 { return [] }
    let removed = actions[..<count]
    actions = Array(actions[count...])
    (hasResent, refusal) = (false, nil)
    return removed
  }

  /// Returns `true` for a refusal that was not reported since the last decision.
  mutating func isNews(_ error: ReplicaLogError) -> Bool {
    if !error.isRefusal || refusal == error { return false }
    refusal = error
    return true
  }

  mutating func hasConnected() {
    connection += 1
    isConnected = true
    (sent, inFlight, hasResent) = (0, 0, false)
  }

  mutating func hasDisconnected() {
    connection += 1
    isConnected = false
  }

  mutating func hasAnswered(over connection: Int) {
    if connection == self.connection { inFlight -= 1 }
  }

  /// Sends again from the first action.
  ///
  /// - Parameter always: `false` to do it once until the next decision: each entry behind a gap is ignored.
  mutating func resend(always: Bool) {
    if hasResent, !always { return }
    hasResent = true
    sent = 0
  }

  /// Returns a Boolean value that indicates whether another process has used the numbers of an entry.
  func contradict(_ number: Int, _ lines: [Data]) -> Bool {
    if number + lines.count > next { return true }
    guard let first = actions.first?.number else { return false }
    return lines.indices.contains { index in
      let place = number + index - first
      return actions.indices.contains(place) && actions[place].line != lines[index]
    }
  }

  /// Returns the number of the last action that was sent before a Unix second, or `nil`.
  func lastSent(before second: Int) -> Int? {
    actions.prefix { $0.sentAt.map { $0 < second } ?? false }.last?.number
  }

  /// Returns the next entry to send with its last number, or `nil`.
  ///
  /// - Parameter second: The current Unix second.
  mutating func takeEntry(of origin: String, at second: Int) -> (ReplicaMessage, last: Int)? {
    guard isConnected, !isClosed, inFlight < Self.window, let first = actions.first,
      let last = actions.last, last.number > sent, sent + 1 <= durable, first.number <= durable
    else { return nil }
    let start = max(0, sent + 1 - first.number)
    var payload = Data()
    var end = start
    repeat {
      if end > start { payload.append(UInt8(ascii: "\n")) }
      payload.append(actions[end].line)
      if actions[end].sentAt == nil { actions[end].sentAt = second }
      end += 1
    } while end < actions.count && actions[end].number <= durable
      && payload.count + actions[end].line.count < Self.batchSize
    sent = actions[end - 1].number
    inFlight += 1
    let header = EntryHeader(
      origin: origin, number: actions[start].number, settled: first.number - 1)
    return (ReplicaMessage(header: header.text, payload: payload), sent)
  }

  mutating func close(_ error: ReplicaError) -> [PendingAction<Action>] {
    ending = ending ?? error
    defer { actions = [] }
    return actions
  }
}
