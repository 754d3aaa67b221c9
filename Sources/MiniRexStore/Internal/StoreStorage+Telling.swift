public import MiniRex

// Whoever lets go of the state tells first what has happened to it, so that the order of events is that
// of commits: the events are admitted to the delivery while nobody can read, and called after that.
extension StoreStorage {
  /// Numbers the only change of a chain, tells of it, and lets go.
  ///
  /// - Returns: The group of what was sent meanwhile, which only somebody who remembers can do.
  @inlinable @inline(__always) @discardableResult
  func commit(
    _ cause: @autoclosure () -> CommitCause<Action>, on thread: ThreadID
  ) -> EffectGroup? {
    let number = unsafe chain.commit()
    if unsafe !chain.hasDuties {
      leave()
      return nil
    }
    if unsafe chain.hasHistories { return finishRemembering(number, cause(), on: thread) }
    leave(after: number, cause, on: thread)
    return nil
  }

  /// Looks for parts that have gone, and tells of the commit.
  @inlinable @inline(__always)
  func leave(
    after number: Int, _ cause: () -> CommitCause<Action>, on thread: ThreadID
  ) {
    let ends = unsafe chain.hasParts && endOrphans()
    if unsafe !chain.isTold { return ends ? finishEnding(nil, on: thread) : leave() }
    let event = Event.committed(Commit(number: number, cause: cause(), state: unsafe state))
    if ends { finishEnding(event, on: thread) } else { leave(telling: event, on: thread) }
  }

  /// What has gone with a commit ends after that is told.
  @inlinable @inline(never)
  func finishEnding(_ event: Event?, on thread: ThreadID) {
    if let event { unsafe told.append(event) }
    goOnWithSequences()
    _ = letGo(on: thread)
  }

  @inlinable @inline(never)
  func endOrphansInChain() {
    if endOrphans() { goOnWithSequences() }
  }

  @inlinable @inline(never)
  func leave(telling event: Event, on thread: ThreadID) {
    var turn: Turn?
    delivery.lock.withLock { delivered in
      turn = delivery.admit(event, replacing: nil, from: thread, &delivered)
      unsafe chain.isTold = delivered.table.count > 0
    }
    leave()
    guard let turn else {
      lineage?.valueWasNotDelivered(by: delivery)
      return
    }
    delivery.deliver(event, turn)
    delivery.leave()
  }

  /// Numbers one change of several.
  @inlinable @inline(__always)
  func tell(_ cause: @autoclosure () -> CommitCause<Action>) {
    let number = unsafe chain.commit()
    if unsafe chain.isNoted { note(number, cause()) }
  }

  @inlinable @inline(never)
  func note(_ number: Int, _ cause: CommitCause<Action>) {
    let commit = unsafe Commit(number: number, cause: cause, state: state)
    if unsafe chain.hasHistories { remember(commit) }
    if unsafe chain.isTold { unsafe told.append(.committed(commit)) }
  }

  @inlinable
  func leaveTelling(on thread: ThreadID) {
    if unsafe told.isEmpty { return leave() }
    var events: [Event] = []
    unsafe swap(&events, &told)
    var first: (Turn, Event)?
    delivery.lock.withLock { delivered in
      for event in events {
        if let turn = delivery.admit(event, replacing: nil, from: thread, &delivered) {
          first = (turn, event)
        }
      }
      unsafe chain.isTold = delivered.table.count > 0
    }
    leave()
    events = []
    guard let (turn, event) = first else {
      lineage?.valueWasNotDelivered(by: delivery)
      return
    }
    first = nil
    delivery.deliver(event, turn)
    delivery.leave()
  }
}
