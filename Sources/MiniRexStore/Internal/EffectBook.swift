/// What has been decided about effects while the state was changed, to be done once it is let go.
@usableFromInline
struct EffectOutcome: ~Copyable {
  /// What has to be stopped: cancelled, or over.
  var stopped = Few<RunningEffect>()
  var completed = Few<EffectGroup>()
  /// What is to be released after that: parts, and scopes that have gone.
  var released: [Any]?

  /// Without exclusive access, because it calls out.
  @usableFromInline
  consuming func happen() {
    stopped.callEach { $0.stop() }
    completed.callEach { $0.complete() }
    extendLifetime(released)
  }
}

/// An effect that had begun, and how it has ended.
@usableFromInline
struct EffectIsOver {
  @usableFromInline let run: EffectRun
  @usableFromInline let end: EffectEnd
  @usableFromInline let start: Duration
}

/// Knows all effects of a store that are not over, and says what ends.
///
/// It is touched with exclusive access to the store, so ids obey the order of commits. It knows
/// neither states nor actions, so that it is compiled once for all stores.
@usableFromInline
struct EffectBook: ~Copyable {
  /// In no order; each knows its place.
  private var running: [RunningEffect] = []
  private var byID: [EffectID: [Int: RunningEffect]] = [:]
  private var lastNumber = 0
  private var outcome = EffectOutcome()
  /// What is to be told.
  private var ends = Few<EffectIsOver>()
  /// Sequences of whose present member nothing is left.
  private var due: [EffectSequence] = []

  @usableFromInline init() {}

  /// For the bookkeeping to be empty, nothing may be left here either.
  var isEmpty: Bool { running.isEmpty && byID.isEmpty }

  var count: Int { running.count }

  @usableFromInline
  mutating func takeOutcome() -> EffectOutcome {
    EffectOutcome(
      stopped: outcome.stopped.take(), completed: outcome.completed.take(),
      released: outcome.released.take())
  }

  @usableFromInline var hasOutcome: Bool {
    !outcome.stopped.isEmpty || !outcome.completed.isEmpty || outcome.released != nil
  }

  @usableFromInline var hasEnds: Bool { !ends.isEmpty }

  @usableFromInline
  mutating func takeEnds() -> Few<EffectIsOver> { ends.take() }

  @usableFromInline
  mutating func takeDue() -> EffectSequence? { due.popLast() }

  @usableFromInline
  mutating func enter(
    _ kind: RunningEffect.Kind, ids: [EffectID], of part: PartEntry?,
    in sequence: EffectSequence?, _ group: EffectGroup, commit: Int
  ) -> RunningEffect {
    lastNumber += 1
    let run = EffectRun(number: lastNumber, commit: commit, effectID: ids.last)
    let effect = RunningEffect(kind, run, ids: ids, of: part, in: sequence, group)
    part?.enter(effect)
    group.enter()
    sequence?.running += 1
    for id in ids { byID[id, default: [:]][lastNumber] = effect }
    if kind != .send {
      unsafe effect.place = running.count
      running.append(effect)
    }
    return effect
  }

  /// The group is not over between two members.
  @usableFromInline
  mutating func enter(_ sequence: EffectSequence) {
    sequence.parent?.running += 1
    sequence.group.enter()
    due.append(sequence)
  }

  /// No member is left.
  @usableFromInline
  mutating func end(_ sequence: EffectSequence) {
    if let parent = sequence.parent {
      if sequence.isStopped { parent.isStopped = true }
      letGo(parent)
    }
    leave(sequence.group)
  }

  /// Held while its next member is entered, so that members of no duration do not end it.
  @usableFromInline
  func hold(_ sequence: EffectSequence) {
    sequence.running += 1
  }

  @usableFromInline
  mutating func letGo(_ sequence: EffectSequence) {
    sequence.running -= 1
    if sequence.running == 0 { due.append(sequence) }
  }

  /// - Returns: False if it was cancelled before.
  @usableFromInline
  mutating func begin(_ effect: RunningEffect) -> Bool {
    guard case .entered = unsafe effect.phase else { return false }
    unsafe effect.phase = .begun(.sinceOrigin)
    return true
  }

  /// The effect has returned, so that there is nothing to stop, or has nothing more to tell.
  @usableFromInline
  mutating func end(_ effect: RunningEffect, _ end: EffectEnd) {
    switch unsafe effect.phase {
    case .over: break
    case .entered: remove(effect, end)
    case .begun(let start): tell(effect, end, since: start)
    case .cancelled(let start): tell(effect, .cancelled, since: start)
    }
  }

  private mutating func tell(_ effect: RunningEffect, _ end: EffectEnd, since start: Duration) {
    ends.append(EffectIsOver(run: effect.run, end: end, start: start))
    if effect.kind == .publisher { outcome.stopped.append(effect) }
    remove(effect, end)
  }

  private mutating func cancel(_ effect: RunningEffect) {
    switch unsafe effect.phase {
    case .over, .cancelled: return
    case .entered:
      outcome.stopped.append(effect)
      remove(effect, .cancelled)
    case .begun(let start):
      if effect.kind == .run {
        unsafe effect.phase = .cancelled(start)
        outcome.stopped.append(effect)
      } else {
        end(effect, .cancelled)
      }
    }
  }

  @usableFromInline
  mutating func cancel(_ id: EffectID) {
    guard let effects = byID[id] else { return }
    for (_, effect) in effects.sorted(by: { $0.key < $1.key }) { cancel(effect) }
  }

  /// Their part has gone.
  @usableFromInline
  mutating func cancel(_ orphans: [RunningEffect]) {
    for effect in orphans.sorted(by: { $0.run.number < $1.run.number }) { cancel(effect) }
  }

  @usableFromInline
  mutating func leave(_ part: PartEntry?) {
    guard let part else { return }
    part.leave()
    release([part])
  }

  @usableFromInline
  mutating func release(_ things: [Any]) {
    if !things.isEmpty { outcome.released = (outcome.released ?? []) + things }
  }

  @usableFromInline
  mutating func cancel(_ group: EffectGroup) {
    group.markCancelled()
    for effect in inOrder(running.filter { $0.group === group }) { cancel(effect) }
  }

  /// The store has gone: nothing that still runs can do anything to it.
  @usableFromInline
  mutating func cancelAll() {
    for effect in inOrder(running) {
      outcome.stopped.append(effect)
      remove(effect, .cancelled)
    }
  }

  private func inOrder(_ effects: [RunningEffect]) -> [RunningEffect] {
    effects.sorted { $0.run.number < $1.run.number }
  }

  @usableFromInline
  mutating func leave(_ group: EffectGroup, _ end: EffectEnd = .finished) {
    if group.leave(end) { outcome.completed.append(group) }
  }

  private mutating func remove(_ effect: RunningEffect, _ end: EffectEnd) {
    unsafe effect.phase = .over
    if let place = unsafe effect.place.take() {
      let last = running.removeLast()
      if last !== effect {
        running[place] = last
        unsafe last.place = place
      }
    }
    for id in effect.ids {
      byID[id]?[effect.run.number] = nil
      if byID[id]?.isEmpty == true { byID[id] = nil }
    }
    effect.ids = []
    if let part = effect.part.take() {
      part.leave(effect)
      release([part])
    }
    if let sequence = effect.sequence {
      if case .finished = end {} else { sequence.isStopped = true }
      letGo(sequence)
    }
    leave(effect.group, end)
  }
}
