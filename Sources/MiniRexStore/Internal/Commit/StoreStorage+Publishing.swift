public import MiniRex

// A thread admits the events to the delivery before it releases the state, so events have the order
// of commits. It calls the subscribers after the release.
extension StoreStorage {
  /// Numbers the only commit of a chain, publishes it, and releases the state.
  ///
  /// - Returns: A task without effects, unless a history's predicate sent actions.
  @inlinable @inline(__always) @discardableResult
  func commit(
    _ cause: @autoclosure () -> CommitCause<Action>, on thread: ThreadID
  ) -> StoreTask {
    let number = inside.chain.commit()
    if inside.chain.duties.isEmpty {
      leave()
      return StoreTask(nil, number: number)
    }
    if inside.chain.duties.contains(.records) {
      return finishRemembering(number, cause(), on: thread)
    }
    leave(after: number, cause, on: thread)
    return StoreTask(nil, number: number)
  }

  /// Looks for removed children, and publishes the commit.
  @inlinable @inline(__always)
  func leave(
    after number: Int, _ cause: () -> CommitCause<Action>, on thread: ThreadID
  ) {
    let ends = inside.chain.duties.contains(.checksChildren) && cancelOrphans()
    if !inside.chain.duties.contains(.publishes) {
      return ends ? finishRemoval(nil, on: thread) : leave()
    }
    let event = Event.committed(Commit(number: number, cause: cause(), state: state))
    if ends { finishRemoval(event, on: thread) } else { leave(publishing: event, on: thread) }
  }

  /// Publishes the commit before the ends of the effects that it canceled.
  @inlinable @inline(never)
  func finishRemoval(_ event: Event?, on thread: ThreadID) {
    if let event { inside.unpublished.append(event) }
    continueSequences()
    _ = releaseState(on: thread)
  }

  @inlinable @inline(never)
  func cancelOrphansInChain() {
    if cancelOrphans() { continueSequences() }
  }

  @inlinable @inline(never)
  func leave(publishing event: Event, on thread: ThreadID) {
    var turn: Turn?
    delivery.lock.withLock { delivered in
      turn = delivery.admit(event, replacing: nil, from: thread, &delivered)
      inside.chain.duties.set(.publishes, delivered.table.count > 0)
    }
    leave()
    guard let turn else {
      lineage?.valueWasNotDelivered(by: delivery)
      return
    }
    delivery.deliver(event, turn)
    delivery.leave()
  }

  /// Numbers one commit of a chain, and keeps its event until the chain is finished.
  @inlinable @inline(__always)
  func publish(_ cause: @autoclosure () -> CommitCause<Action>) {
    let number = inside.chain.commit()
    if inside.chain.duties.areRecording { note(number, cause()) }
  }

  @inlinable @inline(never)
  func note(_ number: Int, _ cause: CommitCause<Action>) {
    let commit = Commit(number: number, cause: cause, state: state)
    if inside.chain.duties.contains(.records) { remember(commit) }
    if inside.chain.duties.contains(.keepsChild) { inside.readingScope?.keepChild() }
    if inside.chain.duties.contains(.publishes) { inside.unpublished.append(.committed(commit)) }
  }

  @inlinable
  func leavePublishing(on thread: ThreadID) {
    if inside.unpublished.isEmpty { return leave() }
    var events: [Event] = []
    swap(&events, &inside.unpublished)
    var first: (Turn, Event)?
    delivery.lock.withLock { delivered in
      for event in events {
        if let turn = delivery.admit(event, replacing: nil, from: thread, &delivered) {
          first = (turn, event)
        }
      }
      inside.chain.duties.set(.publishes, delivered.table.count > 0)
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
