/// The work that remains after the state is released: effects to stop, groups to complete, and
/// objects to release.
@usableFromInline
struct EffectOutcome: ~Copyable {
  /// The canceled and the finished effects.
  var stopped = SmallArray<RunningEffect>()
  var completed = SmallArray<EffectGroup>()
  /// The children and scopes to release last.
  var released: [Any]?

  /// Performs the work without exclusive access, because user code runs.
  @usableFromInline
  consuming func happen() {
    stopped.callEach { $0.stop() }
    completed.callEach { $0.complete() }
    extendLifetime(released)
  }
}

/// A started effect with its end.
@usableFromInline
struct EffectIsOver {
  @usableFromInline let run: EffectRun
  @usableFromInline let end: EffectEnd
  @usableFromInline let start: Duration
}

/// The unfinished effects of a store.
///
/// Guarded by exclusive access to the store, so IDs follow the order of commits. Not generic, so it
/// is compiled once for all stores.
@usableFromInline
struct EffectRegistry: ~Copyable {
  /// Unordered.
  ///
  /// Each effect stores its index.
  var running: [RunningEffect] = []
  var byID: [EffectID: [Int: RunningEffect]] = [:]
  /// The number of effects that were ever registered.
  @usableFromInline private(set) var lastNumber = 0
  /// The effect whose action is reduced.
  ///
  /// Its action precedes the effects behind it in a sequence, so it does not cancel them by an ID.
  @usableFromInline var sender: RunningEffect?
  var outcome = EffectOutcome()
  /// The ends to publish.
  private var ends = SmallArray<EffectIsOver>()
  /// The sequences whose current member has ended.
  private var due: [EffectSequence] = []

  @usableFromInline init() {}

  /// A Boolean value that indicates whether no effect and no ID is stored.
  var isEmpty: Bool { running.isEmpty && byID.isEmpty }

  var count: Int { running.count }

  @usableFromInline
  mutating func takeOutcome() -> EffectOutcome {
    EffectOutcome(
      stopped: outcome.stopped.take(), completed: outcome.completed.take(),
      released: outcome.released.take())
  }

  @usableFromInline var hasEnds: Bool { !ends.isEmpty }

  @usableFromInline
  mutating func takeEnds() -> SmallArray<EffectIsOver> { ends.take() }

  @usableFromInline var hasDue: Bool { !due.isEmpty }

  @usableFromInline
  mutating func takeDue() -> EffectSequence? { due.popLast() }

  /// Registers an effect, which waits if it is in a sequence.
  ///
  /// From now on, its IDs and the removal of its child cancel it.
  @usableFromInline
  mutating func enter(_ kind: RunningEffect.Kind, in context: consuming EffectContext)
    -> RunningEffect
  {
    lastNumber += 1
    let run = EffectRun(
      number: lastNumber, commit: context.commit, effectID: context.ids.last)
    let hasIDs = !context.ids.isEmpty
    context.group.enter()
    let effect = RunningEffect(kind, run, in: context)
    effect.child?.enter(effect)
    if hasIDs { for id in effect.ids { byID[id, default: [:]][lastNumber] = effect } }
    if effect.sequence == nil { add(effect) }
    return effect
  }

  /// Ends the wait of an effect in a sequence.
  ///
  /// - Returns: `false` if the effect was canceled, which stops the sequence.
  @usableFromInline
  mutating func start(_ effect: RunningEffect) -> Bool {
    guard effect.isWaiting else {
      effect.sequence?.isStopped = true
      return false
    }
    effect.phase = .entered
    effect.sequence?.running += 1
    add(effect)
    return true
  }

  private mutating func add(_ effect: RunningEffect) {
    if effect.kind == .send { return }
    effect.place = running.count
    running.append(effect)
    effect.group.link(effect)
  }

  /// Enters a sequence, which keeps its group unfinished between two members.
  @usableFromInline
  mutating func enter(_ sequence: EffectSequence) {
    sequence.isStarted = true
    sequence.parent?.running += 1
    sequence.group.enter()
    due.append(sequence)
  }

  /// Ends a sequence without a next member, and cancels the effects that still wait in it.
  ///
  /// - Parameter rest: The steps of these effects, to release after the state is released.
  @usableFromInline
  mutating func end<Action>(_ sequence: EffectSequence, _ rest: [[EffectStep<Action>]]) {
    for step in rest.joined() {
      if let effect = step.effect, effect.isWaiting { remove(effect, .cancelled) }
    }
    if !rest.isEmpty { release([rest]) }
    if let parent = sequence.parent {
      if sequence.isStopped { parent.isStopped = true }
      finishMember(of: parent)
    }
    leave(sequence.group)
  }

  /// Keeps the current member unfinished while its effects are started, because they may end
  /// immediately.
  @usableFromInline
  func hold(_ sequence: EffectSequence) {
    sequence.running += 1
  }

  @usableFromInline
  mutating func finishMember(of sequence: EffectSequence) {
    sequence.running -= 1
    if sequence.running == 0 { due.append(sequence) }
  }

  /// Marks an effect as begun.
  ///
  /// - Returns: `false` if the effect was canceled before it started.
  @usableFromInline
  mutating func begin(_ effect: RunningEffect) -> Bool {
    guard case .entered = effect.phase else { return false }
    effect.phase = .begun(.sinceOrigin)
    return true
  }

  /// Ends an effect that has returned, or whose publisher has finished.
  @usableFromInline
  mutating func end(_ effect: RunningEffect, _ end: EffectEnd) {
    switch effect.phase {
    case .over: break
    case .waiting, .entered: remove(effect, end)
    case .begun(let start): report(effect, end, since: start)
    case .cancelled(let start): report(effect, .cancelled, since: start)
    }
  }

  private mutating func report(_ effect: RunningEffect, _ end: EffectEnd, since start: Duration) {
    ends.append(EffectIsOver(run: effect.run, end: end, start: start))
    if effect.kind == .publisher { outcome.stopped.append(effect) }
    remove(effect, end)
  }

  @usableFromInline
  mutating func leave(_ child: Presence?) {
    guard let child else { return }
    child.leave()
    release([child])
  }

  @usableFromInline
  mutating func release(_ things: [Any]) {
    if things.isEmpty { return }
    if outcome.released == nil { outcome.released = things } else { outcome.released? += things }
  }

  @usableFromInline
  mutating func leave(_ group: EffectGroup, _ end: EffectEnd = .finished) {
    if group.leave(end) { outcome.completed.append(group) }
  }

  mutating func remove(_ effect: RunningEffect, _ end: EffectEnd) {
    // A sequence notices the end of a waiting effect when it gets there.
    let sequence = effect.isWaiting ? nil : effect.sequence
    effect.phase = .over
    if let place = effect.place.take() {
      effect.group.unlink(effect)
      let last = running.removeLast()
      if last !== effect {
        running[place] = last
        last.place = place
      }
    }
    for id in effect.ids {
      byID[id]?[effect.run.number] = nil
      if byID[id]?.isEmpty == true { byID[id] = nil }
    }
    effect.ids = []
    if let child = effect.child.take() {
      child.leave(effect)
      release([child])
    }
    if let sequence {
      if case .finished = end {} else { sequence.isStopped = true }
      finishMember(of: sequence)
    }
    leave(effect.group, end)
  }
}
