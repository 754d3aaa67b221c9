public import MiniRex

/// A registered effect: a `.send`, a `.run`, or a `.publisher`.
///
/// - waiting: behind another member of a sequence → entered, or over without an event.
/// - entered: not started → begun, or over without an event.
/// - begun: its `began` event was published → over, or for a `.run` canceled.
/// - cancelled: a `.run` that has not returned, whose actions are dropped → over.
/// - over: removed from all tables.
///
/// Does not hold the work, so a captured `send` retains nothing else. Unchecked: everything outside
/// the `Lock` is constant or guarded by exclusive access to the store.
@usableFromInline
final class RunningEffect: @unchecked Sendable {
  @usableFromInline
  enum Kind {
    case send, run, publisher
  }

  enum Phase {
    case waiting
    case entered
    case begun(Duration)
    case cancelled(Duration)
    case over
  }

  /// The object that stops the effect, once it is known.
  ///
  /// Separate properties, because an enumeration would store tag bits in the address, which a leak
  /// detector does not recognize.
  private struct Handle {
    var task: Task<Void, Never>?
    var subscription: Subscription?
    var isStopped = false

    func stop() {
      task?.cancel()
      subscription?.invalidate()
    }
  }

  let kind: Kind
  @usableFromInline let run: EffectRun
  var ids: [EffectID]
  /// The removable child that owns the effect.
  var child: Presence?
  let sequence: EffectSequence?
  @usableFromInline let group: EffectGroup
  /// The carried values of the sender, with which the effect starts.
  @usableFromInline let carried: CarriedValues?
  @safe @exclusivity(unchecked) var phase = Phase.entered
  /// The index in the registry.
  @safe @exclusivity(unchecked) var place: Int?
  /// The neighbors in the list of the group.
  ///
  /// The registry retains them while they are linked.
  @exclusivity(unchecked) unowned(unsafe) var previous: RunningEffect?
  @exclusivity(unchecked) unowned(unsafe) var next: RunningEffect?
  private let handle = Lock(Handle())

  init(_ kind: Kind, _ run: EffectRun, in context: consuming EffectContext) {
    self.kind = kind
    self.run = run
    ids = context.ids
    child = context.place?.entry
    sequence = context.sequence
    group = context.group
    if sequence != nil { phase = .waiting }
    carried = context.carried
  }

  /// A Boolean value that indicates whether an earlier member of the sequence has not ended.
  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// A Boolean value that indicates whether the store reduces actions of this effect.
  @usableFromInline var acceptsActions: Bool {
    if case .begun = phase { !group.isCancelled } else { false }
  }

  /// A Boolean value that indicates whether a `.send` is not reduced yet.
  @usableFromInline var isPending: Bool {
    if case .entered = phase { !group.isCancelled } else { false }
  }

  /// Returns `true` if the effect waits behind a member of a sequence that contains the other effect.
  func isBehind(_ other: RunningEffect?) -> Bool {
    guard isWaiting, let other else { return false }
    var around = sequence
    while let sequence = around, !sequence.isStarted { around = sequence.parent }
    var next = other.sequence
    while let sequence = next {
      if sequence === around { return true }
      next = sequence.parent
    }
    return false
  }

  @usableFromInline
  func attach(_ task: Task<Void, Never>) {
    attach(Handle(task: task))
  }

  @usableFromInline
  func attach(_ subscription: Subscription) {
    attach(Handle(subscription: subscription))
  }

  private func attach(_ new: Handle) {
    let isStopped = handle.withLock { handle in
      if handle.isStopped { return true }
      handle = new
      return false
    }
    if isStopped { new.stop() }
  }

  /// Cancels the Swift task or the subscription, without exclusive access, because user code runs.
  @usableFromInline
  func stop() {
    let old = handle.withLock { handle in
      let old = handle
      handle = Handle(isStopped: true)
      return old
    }
    old.stop()
  }
}

extension Duration {
  private static let origin = ContinuousClock.now

  /// The time since the first call.
  ///
  /// A `Duration` has a static size, unlike an `Instant`.
  @usableFromInline static var sinceOrigin: Duration { origin.duration(to: .now) }
}
