import MiniRex

/// An effect that was entered: a `.send`, a `.run` or a `.publisher`.
///
/// - entered: it waits for its beginning. Next: begun, or over without a word.
/// - begun: its `began` is told. Next: over, or, if it is a `.run`, cancelled.
/// - cancelled: a `.run` that has not returned; what it sends is dropped. Next: over.
/// - over: it stands in no table.
///
/// Unchecked: what is not in the `Lock` is constant, or guarded by exclusive access to the store.
@usableFromInline
final class RunningEffect<Action: Sendable>: @unchecked Sendable {
  enum Phase {
    case entered
    case begun(ContinuousClock.Instant)
    case cancelled(ContinuousClock.Instant)
    case over
  }

  /// What stops it, once that is known.
  private enum Handle {
    case none
    case task(Task<Void, Never>)
    case subscription(Subscription)
    case stopped
  }

  let run: EffectRun
  let work: EffectWork<Action>
  let ids: [EffectID]
  let sequence: EffectSequence<Action>?
  let group: EffectGroup
  var phase = Phase.entered
  private let handle = Lock(Handle.none)

  init(
    _ work: EffectWork<Action>, _ run: EffectRun, ids: [EffectID],
    in sequence: EffectSequence<Action>?, _ group: EffectGroup
  ) {
    self.work = work
    self.run = run
    self.ids = ids
    self.sequence = sequence
    self.group = group
  }

  /// False if what it sends is dropped.
  var isHeard: Bool {
    if case .begun = phase { !group.isCancelled } else { false }
  }

  func attach(_ task: Task<Void, Never>) {
    attach(.task(task))
  }

  func attach(_ subscription: Subscription) {
    attach(.subscription(subscription))
  }

  private func attach(_ new: Handle) {
    let isStopped = handle.withLock { handle in
      if case .stopped = handle { return true }
      handle = new
      return false
    }
    if isStopped { Self.stop(new) }
  }

  /// Cancels the Swift task, or ends the subscription; without exclusive access, because both call
  /// out.
  func stop() {
    let old = handle.withLock { handle in
      let old = handle
      handle = .stopped
      return old
    }
    Self.stop(old)
  }

  private static func stop(_ handle: Handle) {
    switch handle {
    case .none, .stopped: break
    case .task(let task): task.cancel()
    case .subscription(let subscription): subscription.invalidate()
    }
  }
}

/// A `.concatenate` that is under way.
///
/// Unchecked: guarded by exclusive access to the store.
final class EffectSequence<Action: Sendable>: @unchecked Sendable {
  let ids: [EffectID]
  let parent: EffectSequence?
  let group: EffectGroup
  let commit: Int
  private var rest: ArraySlice<Effect<Action>>
  /// How much of the present member is not over.
  var running = 0
  /// Whether a member has failed or was cancelled, so that there is no next one.
  var isStopped = false

  init(
    _ effects: [Effect<Action>], ids: [EffectID], in parent: EffectSequence?, _ group: EffectGroup,
    commit: Int
  ) {
    rest = effects[...]
    self.ids = ids
    self.parent = parent
    self.group = group
    self.commit = commit
  }

  func takeNext() -> Effect<Action>? {
    isStopped ? nil : rest.popFirst()
  }
}
