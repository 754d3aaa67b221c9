internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An action of any type.
///
/// The pending actions are not generic, because a send would look up the metadata of each of their types.
final class ActionBox<Action: Sendable>: Sendable {
  let action: Action

  required init(_ action: Action) { self.action = action }
}

/// An `ActionBox` of the replica's actions.
typealias AnyActionBox = any AnyObject & Sendable

/// Returns the action of a replica whose actions have the type.
func unboxed<Action: Sendable>(_ box: AnyActionBox, as type: Action.Type) -> Action {
  unsafe unsafeDowncast(box, to: ActionBox<Action>.self).action
}

/// An action without a decision.
struct PendingAction: Sendable {
  let number: Int
  let line: Data
  let box: AnyActionBox
  /// The number of foreign actions in the state that it was applied to.
  let foreign: Int
  let source: TaskSource<ReplicaConfirmation, ReplicaError>?
  /// The time of the send.
  let date: Date
  /// The Unix second at which it was sent first, or `nil` if no log can contain it.
  var sentAt: Int?
  /// A Boolean value that indicates whether an earlier process has sent it.
  var isRestored = false
}

/// The pending actions of one origin, with consecutive numbers, and the part of them that is in flight.
///
/// After a kill, decided actions precede them that the written state does not contain. They are not sent or
/// reported again, and their effects do not run again.
struct PendingActions: Sendable {
  /// The actions, behind actions that were removed.
  ///
  /// Removing moves no other action, unless half of them were removed. So the cost per action does not grow with their
  /// number.
  private var all: [PendingAction]
  private var head = 0
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
  /// A Boolean value that indicates whether actions may be in the log that it has forgotten.
  private var isHeld = false
  /// The error of later sends, or `nil` before the end.
  private(set) var ending: ReplicaError?
  /// A Boolean value that indicates whether entries were sent again since the last decision.
  private var hasResent = false
  /// The refusal that was reported since the last decision.
  private var refusal: ReplicaLogError?

  /// The number of the last action whose decision an earlier process has recorded.
  let settled: Int

  /// All actions that the decided state does not contain.
  var actions: ArraySlice<PendingAction> { all[head...] }

  /// The actions without a decision.
  var waiting: ArraySlice<PendingAction> {
    guard let first = actions.first?.number else { return [] }
    return all[(head + min(max(0, settled + 1 - first), actions.count))...]
  }

  /// A Boolean value that indicates whether an earlier process has recorded the decision about the first action.
  var hasSettled: Bool { actions.first.map { $0.number <= settled } ?? false }

  var isClosed: Bool { ending != nil }

  /// Returns the error of a send, or `nil` if the next action can be added.
  func refusal(limit: Int) -> ReplicaError? {
    ending ?? (waiting.count >= limit ? .tooManyPending(limit: limit) : nil)
  }

  /// The number of the first pending action, or of the next action.
  var undecided: Int { waiting.first?.number ?? next }

  static var window: Int { 512 }
  static var batchSize: Int { 64 << 10 }

  init(
    next: Int, actions: [PendingAction] = [], settled: Int = 0, durable: Int = .max
  ) {
    (self.next, all, self.settled, self.durable) = (next, actions, settled, durable)
  }

  mutating func isDurable(through number: Int) { durable = max(durable, number) }

  mutating func append(
    _ box: AnyActionBox, _ line: Data,
    _ source: TaskSource<ReplicaConfirmation, ReplicaError>?
  ) {
    all.append(
      PendingAction(
        number: next, line: line, box: box, foreign: foreign, source: source, date: Date()))
    next += 1
  }

  /// Removes the actions up to a number, and returns them.
  mutating func removeFirst(through number: Int) -> ArraySlice<PendingAction> {
    guard let first = actions.first?.number, number >= first else { return [] }
    (hasResent, refusal) = (false, nil)
    let end = head + min(number - first + 1, actions.count)
    let removed = all[head..<end]
    if end > all.count / 2 {
      // The caller releases the old storage, outside its lock.
      (all, head) = (Array(all[end...]), 0)
      return removed
    }
    head = end
    // A slice would retain all actions, and their next change would copy them.
    return Array(removed)[...]
  }

  /// Returns `true` for a refusal that was not reported since the last decision.
  mutating func isNews(_ error: ReplicaLogError) -> Bool {
    if !error.isRefusal || refusal == error { return false }
    refusal = error
    return true
  }

  /// Records a connection, over which all pending actions are sent again.
  ///
  /// - Parameter isHeld: `true` to send nothing before `release`.
  mutating func hasConnected(isHeld: Bool) {
    connection += 1
    (isConnected, self.isHeld) = (true, isHeld)
    (sent, inFlight, hasResent) = (0, 0, false)
  }

  mutating func release() { isHeld = false }

  mutating func hasDisconnected() {
    connection += 1
    isConnected = false
  }

  /// Returns a Boolean value that indicates whether further actions can be sent.
  mutating func hasAnswered(over connection: Int) -> Bool {
    if connection == self.connection { inFlight -= 1 }
    return isConnected && hasUnsent
  }

  /// A Boolean value that indicates whether the next action is sent without waiting.
  ///
  /// While entries are in flight, actions gather for the next entry. Unless all earlier actions were sent, they wait for
  /// an event that also sends the next action.
  var sendsNext: Bool { isConnected && !isHeld && inFlight == 0 && !hasUnsent }

  private var hasUnsent: Bool { actions.last.map { $0.number > max(sent, settled) } ?? false }

  /// Sends again from the first action.
  ///
  /// - Parameter always: `false` to do it once until the next decision: each entry behind a gap is ignored.
  mutating func resend(always: Bool) {
    if hasResent, !always { return }
    hasResent = true
    sent = 0
  }

  /// Returns the actions of an entry of this origin, or `nil` unless its lines equal the lines of pending actions.
  ///
  /// It returns no slice: the next send would copy all pending actions while the slice exists.
  ///
  /// - Parameters:
  ///   - number: The number of the first line.
  ///   - payload: The lines.
  func boxes(from number: Int, in payload: Data) -> [AnyActionBox]? {
    guard let first = actions.first?.number, number >= first else { return nil }
    return unsafe payload.withUnsafeBytes { bytes in
      var (place, start) = (head + number - first, 0)
      var boxes: [AnyActionBox] = []
      while place < all.count {
        let count = all[place].line.count
        if count > bytes.count - start { return nil }
        let isEqual = unsafe all[place].line.withUnsafeBytes { line in
          guard let line = line.baseAddress, let bytes = bytes.baseAddress else { return false }
          return unsafe memcmp(line, bytes + start, count) == 0
        }
        if !isEqual { return nil }
        boxes.append(all[place].box)
        start += count
        if start == bytes.count { return boxes }
        if unsafe bytes[start] != UInt8(ascii: "\n") { return nil }
        (place, start) = (place + 1, start + 1)
      }
      return nil
    }
  }

  /// Returns `true` if another process has used the numbers of an entry of this origin for other lines.
  func contradicts(_ number: Int, _ lines: [Data]) -> Bool {
    if number + lines.count > next { return true }
    let actions = actions
    guard let first = actions.first?.number else { return false }
    let start = actions.startIndex + number - first
    return zip(start..., lines).contains { place, line in
      actions.indices.contains(place) && actions[place].line != line
    }
  }

  /// Returns the number of the last action that was sent before a Unix second, or `nil`.
  func lastSent(before second: Int) -> Int? {
    waiting.prefix { $0.sentAt.map { $0 < second } ?? false }.last?.number
  }

  /// Returns the next entry to send, or `nil`.
  ///
  /// - Parameters:
  ///   - number: The number of an action. `nil` is returned if it was sent.
  ///   - second: The current Unix second.
  mutating func takeEntry(
    of origin: String, through number: Int, at second: Int
  ) -> OutgoingEntry? {
    guard isConnected, !isHeld, !isClosed, inFlight < Self.window, let first = waiting.first,
      let last = waiting.last, min(last.number, number) > sent,
      max(sent + 1, first.number) <= durable
    else { return nil }
    let start = waiting.startIndex + max(0, sent + 1 - first.number)
    var entry = OutgoingEntry(
      header: EntryHeader(origin: origin, number: all[start].number, settled: first.number - 1),
      connection: connection)
    var end = start
    repeat {
      entry.append(all[end].line)
      if all[end].sentAt == nil { all[end].sentAt = second }
      end += 1
    } while end < all.count && all[end].number <= durable
      && entry.size + all[end].line.count < Self.batchSize
    sent = all[end - 1].number
    inFlight += 1
    return entry
  }

  mutating func close(_ error: ReplicaError) -> ArraySlice<PendingAction> {
    ending = ending ?? error
    defer { (all, head) = ([], 0) }
    return actions
  }
}

extension ArraySlice<PendingAction> {
  /// The numbers of consecutive actions.
  func numbers() -> Range<Int> {
    guard let first = first?.number, let last = last?.number else { return 0..<0 }
    return first..<last + 1
  }
}
