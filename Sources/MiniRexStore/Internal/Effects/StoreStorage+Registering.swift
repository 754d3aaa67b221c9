// A commit registers all effects that it returns, with their IDs and children. Effects in a sequence
// then wait, and start later.
extension StoreStorage {
  @inlinable
  func enter(_ effect: Effect<Action>) {
    let context = EffectContext(wantedGroup(), commit: inside.chain.number)
    // Most effects contain no other effect, and need no loop.
    switch effect.kind {
    case .work(.run(let run)):
      unsafe inside.beginnings.append(.run(inside.effects.enter(.run, in: context), run))
    case .work(.publisher(let subscribe)):
      unsafe inside.beginnings.append(
        .publisher(inside.effects.enter(.publisher, in: context), subscribe))
    default: enterAll(effect, context)
    }
    continueSequences()
  }

  /// Registers the effect and all effects in it.
  ///
  /// Effects nest to any depth, so the remaining work is in a list instead of on the stack.
  @inlinable @inline(never)
  func enterAll(_ effect: Effect<Action>, _ context: EffectContext) {
    var context = context
    var rest: [EffectRemainder<Action>] = []
    var next: Effect<Action>? = effect
    repeat {
      while let effect = next { next = enter(effect, &context, &rest) }
    } while takeNext(&rest, &next, &context)
  }

  /// Registers an effect without the effects in it.
  ///
  /// - Returns: The next nested effect, whose properties are in `context`. The remaining ones are in
  ///   `rest`.
  @inlinable
  func enter(
    _ effect: Effect<Action>, _ context: inout EffectContext,
    _ rest: inout [EffectRemainder<Action>]
  ) -> Effect<Action>? {
    switch effect.kind {
    case .none: break
    case .send(let action) where context.ids.isEmpty && context.sequence == nil:
      queue(action, of: context.place?.entry, context.group)
    case .send(let action): add(.send(inside.effects.enter(.send, in: context), action), context)
    case .work(.run(let run)):
      add(.begin(.run(inside.effects.enter(.run, in: context), run)), context)
    case .work(.publisher(let subscribe)):
      add(.begin(.publisher(inside.effects.enter(.publisher, in: context), subscribe)), context)
    case .work(.merge(let list)):
      rest.append(.members(list.effects[...], context))
    case .work(.concatenate(let list)):
      let sequence = EffectMembers<Action>(in: context)
      var inner = context
      inner.sequence = sequence
      rest.append(.registered(sequence))
      rest.append(.sequence(list.effects[...], sequence, inner))
    case .work(.cancel(let id)):
      cancel(id.of(context.place?.entry), context, group: context.group)
    case .work(.cancellable(let effect, let id, let cancelInFlight)):
      let id = id.of(context.place?.entry)
      if cancelInFlight { cancel(id, context, group: nil) }
      context.ids.append(id)
      return effect
    case .work(.child(let step, let effect)):
      let place = enterChild(step, in: context.place)
      if let entry = place.entry { rest.append(.child(entry)) }
      context.place = place
      return effect
    }
    return nil
  }

  /// Adds a step to the sequence of the context, or starts it without one.
  @inlinable
  func add(_ step: EffectStep<Action>, _ context: EffectContext) {
    guard let sequence = context.sequence else {
      switch step {
      case .send(let effect, let action): queue(.turn(effect, action))
      case .begin(let beginning): inside.beginnings.append(beginning)
      case .cancel(let id, _): inside.effects.cancel(id)
      case .sequence(let sequence): inside.effects.enter(sequence)
      }
      return
    }
    unsafe unsafeDowncast(sequence, to: EffectMembers<Action>.self).add(step)
  }

  @inlinable
  func cancel(_ id: EffectID, _ context: EffectContext, group: EffectGroup?) {
    add(.cancel(id, EffectReach(last: inside.effects.lastNumber, group: group)), context)
  }

  /// Takes the next remaining effect.
  ///
  /// - Returns: `false` if nothing remains.
  @inlinable
  func takeNext(
    _ rest: inout [EffectRemainder<Action>], _ effect: inout Effect<Action>?,
    _ context: inout EffectContext
  ) -> Bool {
    while true {
      switch rest.popLast() {
      case nil: return false
      case .members(var members, let around):
        guard let member = members.popFirst() else { continue }
        if !members.isEmpty { rest.append(.members(members, around)) }
        effect = member
        context = around
        return true
      case .sequence(var members, let sequence, let around):
        guard let member = members.popFirst() else { continue }
        if !members.isEmpty { rest.append(.sequence(members, sequence, around)) }
        // The members of a nested list are members of this sequence.
        if case .work(.concatenate(let list)) = member.kind {
          rest.append(.sequence(list.effects[...], sequence, around))
          continue
        }
        sequence.addMember()
        effect = member
        context = around
        return true
      case .registered(let sequence):
        sequence.close()
        add(.sequence(sequence), sequence.context)
        // Effects start in the order in which they were returned.
        if sequence.parent == nil { startMembers() }
      case .child(let entry): inside.effects.leave(entry)
      }
    }
  }
}
