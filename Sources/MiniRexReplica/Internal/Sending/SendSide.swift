internal import Dispatch
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexStore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// These types are not nested in the generic class, because each use would look up their metadata at run time.

/// The state of the pump.
private struct Waking: Sendable {
  /// A Boolean value that indicates whether the pump is about to run.
  var isScheduled = false
  /// A Boolean value that indicates whether the scheduled pump runs after the delay.
  var isDelayed = false
}

/// The work of the core.
///
/// It is a struct, because `Lock` would wrap a closure in two more closures whenever it is read.
private struct Calls: Sendable {
  let pump: @Sendable () -> Void
  let sendEntries: @Sendable () -> Void
}

/// Applies local actions to the store's state, and keeps them until they are decided.
///
/// `add` and `reduce` run with exclusive access to the store, so the numbers have the order of the commits.
final class SendSide<State: Sendable, Action: Codable & Sendable>: Sendable {
  typealias Source = TaskSource<ReplicaConfirmation, ReplicaError>

  let origin: String
  let reducer: Reducer<State, Action>
  let validate: @Sendable (State, Action) throws -> Void
  let queue = DispatchQueue(label: "MiniRexReplica")
  let rejections: HeldUpdates<Rejection<Action>>
  let pending: Lock<PendingActions>
  private let limit: Int
  private let outbox: OutboxFile?
  private let durability: ReplicaDurability
  /// Waits for the disk.
  private let diskQueue = DispatchQueue(label: "MiniRexReplica.disk")
  private let waitsForDisk: Bool
  private let isSynchronizing = Lock(false)
  private let encoder = makeEncoder()
  /// The type of the boxes, which a send does not look up.
  private let boxType = ActionBox<Action>.self
  /// A Boolean value that indicates whether `add` has taken the action that is about to be reduced.
  ///
  /// Guarded by exclusive access to the store.
  private let isAdded = Atomic(false)
  private let waking = Lock(Waking())
  /// `nil` after the end.
  private let calls = Lock<Calls?>(nil)
  /// The undo logs that record actions.
  private let undo = Lock<[UndoRecord<State, Action>]>([])
  /// Their number, which a send reads without a lookup of the type of the array.
  private let undoCount = Atomic(0)

  init(
    _ reducer: @escaping Reducer<State, Action>,
    _ validate: @escaping @Sendable (State, Action) throws -> Void, limit: Int,
    _ outbox: OutboxFile?, _ durability: ReplicaDurability,
    restoring actions: [(number: Int, line: Data, sentAt: Int?, action: Action)]
  ) {
    (self.reducer, self.validate, self.limit, self.outbox) = (reducer, validate, limit, outbox)
    self.durability = durability
    origin = outbox?.origin ?? UUID().uuidString
    let restored = actions.map {
      PendingAction(
        number: $0.number, line: $0.line, box: ActionBox($0.action), foreign: 0,
        source: Source?.none,
        date: $0.sentAt.map { Date(timeIntervalSince1970: Double($0)) } ?? Date(),
        sentAt: $0.sentAt, isRestored: true)
    }
    waitsForDisk = outbox != nil && durability.lines != nil
    let content = outbox?.restored
    pending = Lock(
      PendingActions(
        next: content?.next ?? 1, actions: restored, settled: content?.settled ?? 0,
        durable: waitsForDisk ? 0 : .max))
    rejections = HeldUpdates(on: queue, limit: restored.count)
  }

  func onWake(
    _ work: @escaping @Sendable () -> Void, send: @escaping @Sendable () -> Void
  ) {
    calls.withLock { $0 = Calls(pump: work, sendEntries: send) }
  }

  /// Calls the pump on the queue, once for all actions that were added before it runs.
  ///
  /// - Parameter isUrgent: `false` if nothing can be sent now, or an answer or a decision will call the pump. It then
  ///   runs after a millisecond at the latest.
  func wake(isUrgent: Bool = true) {
    let isFirst = waking.withLock { waking in
      if waking.isScheduled || (waking.isDelayed && !isUrgent) { return false }
      if isUrgent { waking.isScheduled = true } else { waking.isDelayed = true }
      return true
    }
    if !isFirst { return }
    if isUrgent {
      queue.async { [self] in
        waking.withLock { $0.isScheduled = false }
        runPump()
      }
    } else {
      queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [self] in
        waking.withLock { $0.isDelayed = false }
        runPump()
      }
    }
  }

  /// Calls the pump, on the queue.
  func runPump() { calls.withLock { $0 }?.pump() }

  /// The reducer of the store.
  func reduce(_ state: inout State, _ action: Action) -> Effect<Action> {
    if isAdded.load(ordering: .relaxed) {
      isAdded.store(false, ordering: .relaxed)
    } else {
      do throws(ReplicaError) {
        wake(isUrgent: try add(action, nil, to: state, as: .action))
      } catch {
        let rejection = Rejection(action: action, error: error)
        queue.async { [rejections] in rejections.broadcast(rejection, isHeld: false) }
        return .run { _ in throw error }
      }
    }
    // The effect is returned again at the decision.
    _ = reducer(&state, action)
    return .none
  }

  /// Applies pending actions to another state, except for actions that have become impossible.
  ///
  /// Their effects start with the decision.
  func replay(_ actions: ArraySlice<PendingAction>, on state: inout State) {
    for pending in actions {
      let action = unboxed(pending.box, as: Action.self)
      if (try? validate(state, action)) == nil { continue }
      _ = reducer(&state, action)
    }
  }

  func send(
    _ action: Action, to store: Store<State, Action>
  ) -> PublishedTask<ReplicaConfirmation, ReplicaError> {
    let source = Source()
    var isUrgent = false
    var failure: ReplicaError?
    let isSent = store.send(action) { state in
      do throws(ReplicaError) {
        isUrgent = try add(action, source, to: state, as: .action)
        isAdded.store(true, ordering: .relaxed)
        return false
      } catch {
        failure = error
        return true
      }
    }
    if !isSent, let failure { return .failure(failure) }
    if isUrgent, !waitsForDisk {
      // This thread sends, because the thread of the queue would have to wake first.
      calls.withLock { $0 }?.sendEntries()
      isUrgent = false
    }
    wake(isUrgent: isUrgent)
    return source.publisher
  }

  /// Sends the last inverse action of an undo log.
  ///
  /// - Returns: `false` if there is none, or the action was not sent.
  func send(
    _ step: UndoStep, of record: UndoRecord<State, Action>, to store: Store<State, Action>
  ) -> Bool {
    var isUrgent = false
    do throws(UndoFailure) {
      // Exclusive access keeps other actions out between the choice and the commit.
      try store.send { state throws(UndoFailure) in
        guard let inverse = record.take(step) else { throw UndoFailure() }
        do throws(ReplicaError) {
          isUrgent = try add(inverse.action, nil, to: state, as: step, of: record)
        } catch {
          // An inverse that is rejected has become impossible through another replica.
          if case .rejected = error {} else { record.restore(inverse, step) }
          throw UndoFailure()
        }
        isAdded.store(true, ordering: .relaxed)
        return inverse.action
      }
    } catch {
      publishUndo()
      return false
    }
    wake(isUrgent: isUrgent)
    publishUndo()
    return true
  }

  /// Publishes the availability of undo on the queue.
  func publishUndo() {
    if undoRecords.isEmpty { return }
    queue.async { [self] in for record in undoRecords { record.publish() } }
  }

  /// The undo logs that record actions.
  var undoRecords: [UndoRecord<State, Action>] {
    undoCount.load(ordering: .acquiring) == 0 ? [] : undo.withLock { $0 }
  }

  func add(_ record: UndoRecord<State, Action>) {
    undo.withLock { $0.append(record) }
    undoCount.add(1, ordering: .releasing)
  }

  /// - Parameter record: A record that the caller retains, so that it is not released under the lock.
  func remove(_ record: UndoRecord<State, Action>) {
    undoCount.subtract(1, ordering: .releasing)
    undo.withLock { $0.removeAll { $0 === record } }
  }

  /// Returns a Boolean value that indicates whether the pump must run now to send the action.
  private func add(
    _ action: Action, _ source: Source?, to state: State, as step: UndoStep,
    of stepped: UndoRecord<State, Action>? = nil
  ) throws(ReplicaError) -> Bool {
    do { try validate(state, action) } catch { throw .rejected(error) }
    let line: Data
    do { line = try encoder.encode(action) } catch { throw .notEncodable(error) }
    if let outbox {
      // Exclusive access keeps other actions out until the line is written.
      let (number, refusal) = pending.withLock { ($0.next, $0.refusal(limit: limit)) }
      if let refusal { throw refusal }
      do { try outbox.append(line, number: number) } catch { throw .notKept(error) }
    }
    let box = boxType.init(action)
    // The end may have begun since. The line stays for the next replica.
    let (number, refusal, isUrgent) = pending.withLock { pending in
      let (number, refusal) = (pending.next, pending.refusal(limit: limit))
      let isUrgent = pending.sendsNext
      if refusal == nil { pending.append(box, line, source) }
      return (number, refusal, isUrgent)
    }
    if let refusal { throw refusal }
    if undoCount.load(ordering: .acquiring) == 0 { return isUrgent }
    for record in undoRecords {
      record.add(action, number: number, to: state, as: record === stepped ? step : .action)
    }
    publishUndo()
    return isUrgent
  }

  /// Makes the lines of all actions durable, once for all lines that were written before it begins.
  ///
  /// - Parameter fail: A closure that runs on the queue after a failure. The lines may be lost then, even if a later
  ///   attempt succeeds.
  func synchronize(orFail fail: @escaping @Sendable (any Error) -> Void) {
    guard let outbox, let synchronize = durability.lines else { return }
    let mustStart = pending.withLock { !$0.isClosed && $0.durable < $0.next - 1 }
    if !mustStart { return }
    let isFirst = isSynchronizing.withLock { isSynchronizing in
      defer { isSynchronizing = true }
      return !isSynchronizing
    }
    if !isFirst { return }
    diskQueue.async { [self] in
      let result = Result { try outbox.synchronize(with: synchronize) }
      queue.async { [self] in
        isSynchronizing.withLock { $0 = false }
        switch result {
        case .success(let number):
          pending.withLock { $0.isDurable(through: number) }
          runPump()
        case .failure(let error): fail(error)
        }
      }
    }
  }

  /// Records that the actions up to a number are sent, before the log has them.
  func mark(sent number: Int, at second: Int) { outbox?.mark(sent: number, at: second) }

  /// Records that all actions up to a number are decided.
  ///
  /// - Parameter isDurable: `true` to wait for the disk, if the actions are durable.
  func settle(through number: Int, isDurable: Bool) throws(OutboxFailure) {
    guard let outbox else { return }
    try outbox.settle(through: number)
    if isDurable, let synchronize = durability.lines {
      try outbox.synchronize(with: synchronize)
    }
  }

  /// Permits another replica to open the file.
  func releaseFile() { outbox?.release() }

  func close(because trouble: ReplicaTrouble?) {
    let error = trouble.map { ReplicaError.stopped($0) } ?? .closed
    let left = pending.withLock { $0.close(error) }
    calls.withLock { $0.take() }.map { withExtendedLifetime($0) {} }
    for action in left { action.source?.finish(.failure(error)) }
  }
}
