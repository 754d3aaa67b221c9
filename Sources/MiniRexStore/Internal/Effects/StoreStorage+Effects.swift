public import MiniRex

extension StoreStorage {
  /// Starts the next members of sequences, and queues the events of ended effects.
  @inlinable
  func continueSequences() {
    if inside.effects.hasDue { startMembers() }
    if !inside.effects.hasEnds { return }
    let ends = inside.effects.takeEnds()
    if !inside.chain.duties.contains(.publishes) { return }
    let now = Duration.sinceOrigin
    ends.callEach {
      unsafe inside.unpublished.append(.ended($0.run, $0.end, after: now - $0.start))
    }
  }

  /// Starts the next members of the sequences whose current members have ended.
  @inlinable @inline(never)
  func startMembers() {
    var rest: [(sequence: EffectMembers<Action>, steps: ArraySlice<EffectStep<Action>>)] = []
    while true {
      if let due = inside.effects.takeDue() {
        let sequence = unsafe unsafeDowncast(due, to: EffectMembers<Action>.self)
        if let member = sequence.takeNext() {
          inside.effects.hold(sequence)
          rest.append((sequence, member[...]))
        } else {
          inside.effects.end(sequence, sequence.takeRest())
        }
      } else if let (sequence, steps) = rest.popLast() {
        if let step = steps.first {
          rest.append((sequence, steps.dropFirst()))
          start(step)
        } else {
          inside.effects.finishMember(of: sequence)
        }
      } else {
        return
      }
    }
  }

  /// Starts one step of a member, unless its effect was canceled.
  @inlinable
  func start(_ step: EffectStep<Action>) {
    if let effect = step.effect, !inside.effects.start(effect) {
      return inside.effects.release([step])
    }
    switch step {
    case .send(let effect, let action): queue(.turn(effect, action))
    case .begin(let beginning): inside.beginnings.append(beginning)
    case .cancel(let id, let reach): inside.effects.cancel(id, reach)
    case .sequence(let sequence): inside.effects.enter(sequence)
    }
  }

  /// Starts effects.
  ///
  /// Effects entered on this thread while an effect starts, start after it.
  @inlinable
  func begin(_ effects: consuming SmallArray<EffectBeginning<Action>>, on thread: ThreadID) {
    if effects.isEmpty { return }
    let isFirst = delivery.lock.withLock { _ in
      if underLock.starter.begin(effects.count, on: thread) { return true }
      underLock.deferred[thread, default: []] += effects.all
      return false
    }
    if !isFirst { return }
    effects.callEach { begin($0) }
    while true {
      let next = delivery.lock.withLock { _ in
        underLock.starter.next(on: thread) > 0
          ? underLock.deferred.removeValue(forKey: thread) ?? [] : []
      }
      if next.isEmpty { return }
      for effect in next { begin(effect) }
    }
  }

  @inlinable
  func begin(_ beginning: EffectBeginning<Action>) {
    guard let carried = beginning.effect.carried else { return start(beginning) }
    carried.run { start(beginning) }
  }

  @inlinable
  func start(_ beginning: EffectBeginning<Action>) {
    let weakStore = weakStore
    switch beginning {
    case .run(let effect, let work):
      effect.attach(
        Task {
          guard weakStore.begins(effect) else { return }
          let end: EffectEnd
          do {
            try await work { weakStore.perform(.action($0, by: effect, effect.group)) }
            end = .finished
          } catch {
            end = .failed(error)
            if !Task.isCancelled { weakStore.failed(effect, with: error) }
          }
          weakStore.perform(.ended(effect, end))
        })
    case .publisher(let effect, let subscribe):
      guard begins(effect) else { return }
      effect.attach(
        subscribe(
          effect.run.commit, { weakStore.perform(.action($0, by: effect, effect.group)) },
          { weakStore.perform(.ended(effect, .finished)) }))
    }
  }

  /// Publishes the start of an effect.
  ///
  /// - Returns: `false` if the effect was canceled before.
  @inlinable
  func begins(_ effect: RunningEffect) -> Bool {
    let thread = ThreadID.current
    enterOutside(on: thread)
    let begins = inside.effects.begin(effect)
    if begins, inside.chain.duties.contains(.publishes) {
      leave(publishing: .began(effect.run), on: thread)
    } else {
      leave()
    }
    return begins
  }

  /// Ends the storage after the store was released.
  ///
  /// No thread is inside.
  @usableFromInline
  func end() {
    delivery.end()
    let thread = ThreadID.current
    enterOutside(on: thread)
    inside.effects.cancelAll()
    continueSequences()
    var observed: [MemberKey: ObservedMember] = [:]
    swap(&observed, &inside.members)
    let released = forgetAbandoned()
    defer { withExtendedLifetime(released) {} }
    _ = releaseState(on: thread)
  }

  @usableFromInline
  var effectCount: Int {
    withAccess { inside.effects.count }
  }

  /// A Boolean value that indicates whether the bookkeeping of effects is empty.
  @usableFromInline
  var hasForgottenEffects: Bool {
    withAccess { inside.effects.isEmpty }
  }
}
