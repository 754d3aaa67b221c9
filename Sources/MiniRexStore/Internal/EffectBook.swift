/// What has been decided about effects while the state was changed, to be done once it is let go.
struct EffectOutcome<Action: Sendable> {
  /// In the order in which they were returned.
  var beginnings: [RunningEffect<Action>] = []
  /// What has to be stopped: cancelled, or over.
  var stopped: [RunningEffect<Action>] = []
  var completed: [EffectGroup] = []
}

/// Knows all effects of a store that are not over, and says what begins and what ends.
///
/// It is touched with exclusive access to the store, so ids obey the order of commits.
struct EffectBook<Action: Sendable> {
  private(set) var running: [Int: RunningEffect<Action>] = [:]
  private var byID: [EffectID: [Int: RunningEffect<Action>]] = [:]
  private var lastNumber = 0
  var outcome = EffectOutcome<Action>()
  /// Actions that were returned, whose turn comes when those before them are reduced.
  private(set) var turns: [StoreInput<Action>] = []
  /// Ends of effects that had begun, which are told.
  private(set) var ends: [(EffectRun, EffectEnd, Duration)] = []

  /// For the bookkeeping to be empty, nothing may be left here either.
  var isEmpty: Bool { running.isEmpty && byID.isEmpty }

  mutating func takeTurns() -> [StoreInput<Action>] {
    defer { turns.removeAll() }
    return turns
  }

  mutating func takeEnds() -> [(EffectRun, EffectEnd, Duration)] {
    defer { ends.removeAll() }
    return ends
  }

  mutating func enter(
    _ effect: Effect<Action>, ids: [EffectID] = [], in sequence: EffectSequence<Action>? = nil,
    _ group: EffectGroup, commit: Int
  ) {
    guard let work = effect.work else { return }
    switch work {
    case .send(let action) where ids.isEmpty && sequence == nil:
      turns.append(.action(action, by: nil, group))
    case .send, .run, .publisher:
      enter(work, ids: ids, in: sequence, group, commit: commit)
    case .merge(let effects):
      for effect in effects { enter(effect, ids: ids, in: sequence, group, commit: commit) }
    case .concatenate(let effects):
      let inner = EffectSequence(effects, ids: ids, in: sequence, group, commit: commit)
      sequence?.running += 1
      advance(inner)
    case .cancel(let id):
      cancel(id)
    case .cancellable(let effect, let id, let cancelInFlight):
      if cancelInFlight { cancel(id) }
      enter(effect, ids: ids + [id], in: sequence, group, commit: commit)
    }
  }

  private mutating func enter(
    _ work: EffectWork<Action>, ids: [EffectID], in sequence: EffectSequence<Action>?,
    _ group: EffectGroup, commit: Int
  ) {
    lastNumber += 1
    let run = EffectRun(number: lastNumber, commit: commit, effectID: ids.last)
    let effect = RunningEffect(work, run, ids: ids, in: sequence, group)
    group.enter()
    sequence?.running += 1
    for id in ids { byID[id, default: [:]][lastNumber] = effect }
    if case .send = work {
      turns.append(.turn(effect))
    } else {
      running[lastNumber] = effect
      outcome.beginnings.append(effect)
    }
  }

  /// Enters the next member when nothing of the one before is left, or ends the sequence.
  private mutating func advance(_ sequence: EffectSequence<Action>) {
    var sequence = sequence
    while sequence.running == 0 {
      if let next = sequence.takeNext() {
        // Held, so that members of no duration do not come back here.
        sequence.running += 1
        enter(next, ids: sequence.ids, in: sequence, sequence.group, commit: sequence.commit)
        sequence.running -= 1
      } else {
        guard let parent = sequence.parent else { return }
        parent.running -= 1
        if sequence.isStopped { parent.isStopped = true }
        sequence = parent
      }
    }
  }

  /// - Returns: False if it was cancelled before.
  mutating func begin(_ effect: RunningEffect<Action>) -> Bool {
    guard case .entered = effect.phase else { return false }
    effect.phase = .begun(.now)
    return true
  }

  /// The effect has returned, or has nothing more to tell.
  mutating func end(_ effect: RunningEffect<Action>, _ end: EffectEnd) {
    switch effect.phase {
    case .over: break
    case .entered: remove(effect, end)
    case .begun(let start):
      ends.append((effect.run, end, .now - start))
      remove(effect, end)
    case .cancelled(let start):
      ends.append((effect.run, .cancelled, .now - start))
      remove(effect, .cancelled)
    }
  }

  mutating func cancel(_ effect: RunningEffect<Action>) {
    switch effect.phase {
    case .over, .cancelled: return
    case .entered: remove(effect, .cancelled)
    case .begun(let start):
      if case .run = effect.work {
        effect.phase = .cancelled(start)
        outcome.stopped.append(effect)
      } else {
        end(effect, .cancelled)
      }
    }
  }

  private mutating func cancel(_ id: EffectID) {
    guard let effects = byID[id] else { return }
    for (_, effect) in effects.sorted(by: { $0.key < $1.key }) { cancel(effect) }
  }

  mutating func cancel(_ group: EffectGroup) {
    group.markCancelled()
    for (_, effect) in running.sorted(by: { $0.key < $1.key }) where effect.group === group {
      cancel(effect)
    }
  }

  /// The store has gone: nothing that still runs can do anything to it.
  mutating func cancelAll() {
    for (_, effect) in running.sorted(by: { $0.key < $1.key }) {
      remove(effect, .cancelled)
    }
  }

  mutating func leave(_ group: EffectGroup, _ end: EffectEnd = .finished) {
    if group.leave(end) { outcome.completed.append(group) }
  }

  private mutating func remove(_ effect: RunningEffect<Action>, _ end: EffectEnd) {
    effect.phase = .over
    outcome.stopped.append(effect)
    running[effect.run.number] = nil
    for id in effect.ids {
      byID[id]?[effect.run.number] = nil
      if byID[id]?.isEmpty == true { byID[id] = nil }
    }
    if let sequence = effect.sequence {
      if case .finished = end {} else { sequence.isStopped = true }
      sequence.running -= 1
      advance(sequence)
    }
    leave(effect.group, end)
  }
}
