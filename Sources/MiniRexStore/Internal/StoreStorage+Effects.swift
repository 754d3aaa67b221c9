public import MiniRex

extension StoreStorage {
  @inlinable
  func enter(_ effect: Effect<Action>) {
    enter(effect, ids: [], at: nil, in: nil, wantedGroup(), commit: unsafe chain.number)
    goOnWithSequences()
  }

  @inlinable
  func enter(
    _ effect: Effect<Action>, ids: [EffectID], at place: AnyPlace?,
    in sequence: EffectSequence?, _ group: EffectGroup, commit: Int
  ) {
    let work: EffectWork<Action>
    switch effect.kind {
    case .none: return
    case .send(let action) where ids.isEmpty && sequence == nil:
      return queue(action, of: place?.entry, group)
    case .send(let action):
      let effect = unsafe book.enter(
        .send, ids: ids, of: place?.entry, in: sequence, group, commit: commit)
      return queue(.turn(effect, action))
    case .work(let some): work = some
    }
    switch work {
    case .run(let run):
      let effect = unsafe book.enter(
        .run, ids: ids, of: place?.entry, in: sequence, group, commit: commit)
      unsafe beginnings.append(.run(effect, run))
    case .publisher(let subscribe):
      let effect = unsafe book.enter(
        .publisher, ids: ids, of: place?.entry, in: sequence, group, commit: commit)
      unsafe beginnings.append(.publisher(effect, subscribe))
    case .merge(let effects):
      for effect in effects {
        enter(effect, ids: ids, at: place, in: sequence, group, commit: commit)
      }
    case .concatenate(let effects):
      unsafe book.enter(
        EffectMembers(effects, ids: ids, at: place, in: sequence, group, commit: commit))
      goOnWithSequences()
    case .cancel(let id):
      unsafe book.cancel(id.of(place?.entry))
    case .cancellable(let effect, let id, let cancelInFlight):
      let id = id.of(place?.entry)
      if cancelInFlight { unsafe book.cancel(id) }
      enter(effect, ids: ids + [id], at: place, in: sequence, group, commit: commit)
    case .part(let step, let effect):
      let part = enterPart(step, in: place)
      enter(effect, ids: ids, at: part, in: sequence, group, commit: commit)
      unsafe book.leave(part.entry)
    }
  }

  /// Enters the next members of sequences of whose present one nothing is left; tells what has ended.
  @inlinable
  func goOnWithSequences() {
    while let sequence = unsafe book.takeDue() as? EffectMembers<Action> {
      if let next = sequence.takeNext() {
        unsafe book.hold(sequence)
        enter(
          next, ids: sequence.ids, at: sequence.place, in: sequence, sequence.group,
          commit: sequence.commit)
        unsafe book.letGo(sequence)
      } else {
        unsafe book.end(sequence)
      }
    }
    if unsafe !book.hasEnds { return }
    let ends = unsafe book.takeEnds()
    if unsafe !chain.isTold { return }
    let now = Duration.sinceOrigin
    ends.callEach { unsafe told.append(.ended($0.run, $0.end, after: now - $0.start)) }
  }

  /// On one thread, what is to begin while another effect begins, begins next.
  @inlinable
  func begin(_ effects: consuming Few<EffectBeginning<Action>>, on thread: ThreadID) {
    if effects.isEmpty { return }
    let isFirst = delivery.lock.withLock { _ in
      if unsafe beginners.begin(effects.count, on: thread) { return true }
      unsafe deferred[thread, default: []] += effects.all
      return false
    }
    if !isFirst { return }
    effects.callEach { begin($0) }
    while true {
      let next = delivery.lock.withLock { _ in
        unsafe beginners.next(on: thread) > 0 ? deferred.removeValue(forKey: thread) ?? [] : []
      }
      if next.isEmpty { return }
      for effect in next { begin(effect) }
    }
  }

  @inlinable
  func begin(_ beginning: EffectBeginning<Action>) {
    let link = link
    switch beginning {
    case .run(let effect, let work):
      effect.attach(
        Task {
          guard link.begins(effect) else { return }
          let end: EffectEnd
          do {
            try await work { link.perform(.action($0, by: effect, effect.group)) }
            end = .finished
          } catch {
            end = .failed(error)
          }
          link.perform(.ended(effect, end))
        })
    case .publisher(let effect, let subscribe):
      guard begins(effect) else { return }
      effect.attach(
        subscribe(
          effect.run.commit, { link.perform(.action($0, by: effect, effect.group)) },
          { link.perform(.ended(effect, .finished)) }))
    }
  }

  /// Tells that an effect begins; false if it was cancelled before.
  @inlinable
  func begins(_ effect: RunningEffect) -> Bool {
    let thread = ThreadID.current
    enterOutside(on: thread)
    let begins = unsafe book.begin(effect)
    if begins, unsafe chain.isTold {
      leave(telling: .began(effect.run), on: thread)
    } else {
      leave()
    }
    return begins
  }

  /// The store has gone, and nobody is inside.
  @usableFromInline
  func end() {
    delivery.end()
    let thread = ThreadID.current
    enterOutside(on: thread)
    unsafe book.cancelAll()
    goOnWithSequences()
    var observed: [MemberKey: ObservedMember] = [:]
    unsafe swap(&observed, &members)
    let released = forgetAbandoned()
    defer { withExtendedLifetime(released) {} }
    _ = letGo(on: thread)
  }

  @usableFromInline
  var effectCount: Int {
    withAccess { unsafe book.count }
  }

  /// True if nothing is remembered of effects.
  @usableFromInline
  var hasForgottenEffects: Bool {
    withAccess { unsafe book.isEmpty }
  }
}
