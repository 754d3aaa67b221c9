public import MiniRex

extension StoreStorage {
  @inlinable
  func enter(_ effect: Effect<Action>) {
    let context = EffectContext(wantedGroup(), commit: unsafe chain.number)
    // Most effects contain no other effect, and need no loop.
    switch effect.kind {
    case .work(.run(let run)):
      unsafe beginnings.append(.run(book.enter(.run, in: context), run))
    case .work(.publisher(let subscribe)):
      unsafe beginnings.append(.publisher(book.enter(.publisher, in: context), subscribe))
    default:
      var (context, rest) = (context, [EffectRemainder<Action>]())
      enterAll(effect, &context, &rest)
    }
    continueSequences()
  }

  /// Enters the effect and all effects in it, and then the next members of sequences.
  ///
  /// Effects nest to any depth, so the remaining work is in a list instead of on the stack.
  @inlinable @inline(never)
  func enterAll(
    _ effect: Effect<Action>?, _ context: inout EffectContext,
    _ rest: inout [EffectRemainder<Action>]
  ) {
    var next = effect
    repeat {
      while let effect = next { next = enter(effect, &context, &rest) }
    } while takeNext(&rest, &next, &context)
  }

  /// - Returns: The next nested effect, whose properties are in `context`.
  @inlinable
  func enter(
    _ effect: Effect<Action>, _ context: inout EffectContext,
    _ rest: inout [EffectRemainder<Action>]
  ) -> Effect<Action>? {
    switch effect.kind {
    case .none: break
    case .send(let action) where context.ids.isEmpty && context.sequence == nil:
      queue(action, of: context.place?.entry, context.group)
    case .send(let action):
      queue(.turn(unsafe book.enter(.send, in: context), action))
    case .work(.run(let run)):
      unsafe beginnings.append(.run(book.enter(.run, in: context), run))
    case .work(.publisher(let subscribe)):
      unsafe beginnings.append(.publisher(book.enter(.publisher, in: context), subscribe))
    case .work(.merge(let list)):
      rest.append(.members(list.effects[...], context))
    case .work(.concatenate(let list)):
      unsafe book.enter(EffectMembers(list.effects, in: context))
    case .work(.cancel(let id)):
      unsafe book.cancel(id.of(context.place?.entry))
    case .work(.cancellable(let effect, let id, let cancelInFlight)):
      let id = id.of(context.place?.entry)
      if cancelInFlight { unsafe book.cancel(id) }
      context.ids.append(id)
      return effect
    case .work(.part(let step, let effect)):
      let place = enterPart(step, in: context.place)
      if let entry = place.entry { rest.append(.child(entry)) }
      context.place = place
      return effect
    }
    return nil
  }

  /// Takes the next member of a sequence whose current member has ended, or else the next remaining
  /// effect.
  ///
  /// - Returns: `false` if nothing remains.
  @inlinable
  func takeNext(
    _ rest: inout [EffectRemainder<Action>], _ effect: inout Effect<Action>?,
    _ context: inout EffectContext
  ) -> Bool {
    while true {
      if let sequence = unsafe book.takeDue() as? EffectMembers<Action> {
        guard let member = sequence.takeNext() else {
          unsafe book.end(sequence)
          continue
        }
        unsafe book.hold(sequence)
        rest.append(.entered(sequence))
        effect = member
        context = sequence.context
        context.sequence = sequence
        return true
      }
      switch rest.popLast() {
      case nil: return false
      case .members(var members, let around):
        guard let member = members.popFirst() else { continue }
        if !members.isEmpty { rest.append(.members(members, around)) }
        effect = member
        context = around
        return true
      case .entered(let sequence): unsafe book.finishMember(of: sequence)
      case .child(let entry): unsafe book.leave(entry)
      }
    }
  }

  /// Enters the next members of sequences, and queues the events of ended effects.
  @inlinable
  func continueSequences() {
    if let sequence = unsafe book.nextDue {
      var context = sequence.context
      var rest: [EffectRemainder<Action>] = []
      enterAll(nil, &context, &rest)
    }
    if unsafe !book.hasEnds { return }
    let ends = unsafe book.takeEnds()
    if unsafe !chain.hasSubscribers { return }
    let now = Duration.sinceOrigin
    ends.callEach { unsafe unpublished.append(.ended($0.run, $0.end, after: now - $0.start)) }
  }

  /// Starts effects.
  ///
  /// Effects entered on this thread while an effect starts, start after it.
  @inlinable
  func begin(_ effects: consuming SmallArray<EffectBeginning<Action>>, on thread: ThreadID) {
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
    guard let carried = beginning.effect.carried else { return start(beginning) }
    carried.run { start(beginning) }
  }

  @inlinable
  func start(_ beginning: EffectBeginning<Action>) {
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

  /// Publishes the start of an effect.
  ///
  /// - Returns: `false` if the effect was canceled before.
  @inlinable
  func begins(_ effect: RunningEffect) -> Bool {
    let thread = ThreadID.current
    enterOutside(on: thread)
    let begins = unsafe book.begin(effect)
    if begins, unsafe chain.hasSubscribers {
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
    unsafe book.cancelAll()
    continueSequences()
    var observed: [MemberKey: ObservedMember] = [:]
    unsafe swap(&observed, &members)
    let released = forgetAbandoned()
    defer { withExtendedLifetime(released) {} }
    _ = releaseState(on: thread)
  }

  @usableFromInline
  var effectCount: Int {
    withAccess { unsafe book.count }
  }

  /// A Boolean value that indicates whether the bookkeeping of effects is empty.
  @usableFromInline
  var hasForgottenEffects: Bool {
    withAccess { unsafe book.isEmpty }
  }
}
