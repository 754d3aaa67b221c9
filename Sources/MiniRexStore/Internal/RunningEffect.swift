public import MiniRex

/// An effect that was entered: a `.send`, a `.run` or a `.publisher`.
///
/// - entered: it waits for its beginning. Next: begun, or over without a word.
/// - begun: its `began` is told. Next: over, or, if it is a `.run`, cancelled.
/// - cancelled: a `.run` that has not returned; what it sends is dropped. Next: over.
/// - over: it stands in no table.
///
/// It does not know what it does: whoever keeps what it sends with keeps nothing else. Unchecked:
/// what is not in the `Lock` is constant, or guarded by exclusive access to the store.
@usableFromInline
final class RunningEffect: @unchecked Sendable {
  @usableFromInline
  enum Kind {
    case send, run, publisher
  }

  enum Phase {
    case entered
    case begun(Duration)
    case cancelled(Duration)
    case over
  }

  /// What stops it, once that is known.
  private enum Handle {
    case none
    case task(Task<Void, Never>)
    case subscription(Subscription)
    case stopped
  }

  let kind: Kind
  @usableFromInline let run: EffectRun
  var ids: [EffectID]
  /// The part that may go, and ends it then.
  var part: PartEntry?
  let sequence: EffectSequence?
  @usableFromInline let group: EffectGroup
  @exclusivity(unchecked) var phase = Phase.entered
  /// Where it stands among those that run.
  @exclusivity(unchecked) var place: Int?
  private let handle = Lock(Handle.none)

  init(
    _ kind: Kind, _ run: EffectRun, ids: [EffectID], of part: PartEntry?,
    in sequence: EffectSequence?, _ group: EffectGroup
  ) {
    self.kind = kind
    self.run = run
    self.ids = ids
    self.part = part
    self.sequence = sequence
    self.group = group
  }

  /// False if what it sends is dropped.
  @usableFromInline var isHeard: Bool {
    if case .begun = unsafe phase { !group.isCancelled } else { false }
  }

  /// True if a `.send` is still to be reduced.
  @usableFromInline var isWanted: Bool {
    if case .entered = unsafe phase { !group.isCancelled } else { false }
  }

  @usableFromInline
  func attach(_ task: Task<Void, Never>) {
    attach(.task(task))
  }

  @usableFromInline
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
  @usableFromInline
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

extension Duration {
  private static let origin = ContinuousClock.now

  /// What a clock shows, as a number: an `Instant` has a size that only its library knows.
  @usableFromInline static var sinceOrigin: Duration { origin.duration(to: .now) }
}
