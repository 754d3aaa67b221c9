public import Synchronization

/// One run of a task: its latest progress, and finally its result.
///
/// Unchecked: the lock of the delivery guards `latest`.
@usableFromInline
package final class TaskStorage<Update: Sendable>: @unchecked Sendable {
  // The first property, so that code without the generic type finds it at a fixed offset.
  @usableFromInline let delivery: Delivery<Update>
  /// - running: `latest` is the latest progress. → finished, or ended without a result
  /// - finished: `latest` is the result.
  ///
  /// The delivery stores an end without a result. The flag is written under the lock, and atomic,
  /// so that releasing a finished task needs no lock.
  @usableFromInline let isFinished = Atomic(false)
  /// `false` if late subscribers receive no earlier progress.
  @usableFromInline let remembersProgress: Bool
  @usableFromInline @exclusivity(unchecked) var latest = ErasedValue()

  @inlinable
  package init(remembersProgress: Bool = true) {
    delivery = Delivery()
    self.remembersProgress = remembersProgress
  }

  /// `true` if it will never have a result.
  var hasFailedToFinish: Bool {
    delivery.lock.withLock { state in
      state.schedule.hasEnded && !hasFinished
    }
  }

  @inlinable @inline(__always) package var hasFinished: Bool {
    isFinished.load(ordering: .acquiring)
  }

  /// The update that a subscriber would receive synchronously.
  var current: Update? {
    delivery.lock.withLock { _ in unsafe latest.value(of: Update.self) }
  }

  /// Delivers progress, unless the task is over.
  ///
  /// - Returns: `false` if the update is queued, or has no subscriber.
  @inlinable
  @discardableResult
  package func report(_ progress: Update) -> Bool {
    if !remembersProgress { return delivery.send(progress) }
    guard let turn = accept(progress: progress) else { return false }
    deliver(progress: progress, turn)
    return true
  }

  /// Stores progress, and returns the turn that the caller must deliver, unless it is queued.
  @inlinable
  func accept(progress: Update) -> Turn? {
    let thread = ThreadID.current
    var replaced: Update?
    let turn = delivery.lock.withLock { state -> Turn? in
      if state.schedule.hasEnded { return nil }
      replaced = unsafe latest.replace(by: progress)
      return delivery.admit(progress, replacing: nil, from: thread, &state)
    }
    withExtendedLifetime(replaced) {}
    return turn
  }

  @inlinable
  func deliver(progress: Update, _ turn: Turn) {
    delivery.deliver(progress, turn)
    delivery.leave()
  }

  /// Delivers the result, and ends.
  ///
  /// Returns `false` if the task is over.
  @inlinable
  package func finish(_ result: Update) -> Bool {
    let (isAccepted, turn) = accept(result)
    deliver(result, turn)
    return isAccepted
  }

  /// Stores the result, unless the task is over, and returns the turn that the caller must deliver.
  @inlinable
  func accept(_ result: Update) -> (isAccepted: Bool, turn: Turn?) {
    let thread = ThreadID.current
    var replaced: Update?
    let (isAccepted, turn) = delivery.lock.withLock { state -> (Bool, Turn?) in
      if state.schedule.hasEnded { return (false, nil) }
      replaced = unsafe latest.replace(by: result)
      isFinished.store(true, ordering: .releasing)
      return (true, delivery.admitLast(result, from: thread, &state))
    }
    withExtendedLifetime(replaced) {}
    return (isAccepted, turn)
  }

  @inlinable
  func deliver(_ result: Update, _ turn: Turn?) {
    guard let turn else { return }
    delivery.deliver(result, turn)
    delivery.deliverQueued()
  }

  /// Ends without a result, unless there is a result.
  @inlinable @inline(__always)
  package func end() {
    if !hasFinished { endUnfinished() }
  }

  @inlinable @inline(never)
  func endUnfinished() {
    let thread = ThreadID.current
    var latest: Update?
    let mustDeliverQueued = delivery.lock.withLock { state in
      if hasFinished { return false }
      latest = unsafe self.latest.take(Update.self)
      return delivery.end(on: thread, &state)
    }
    ReleaseChain.release(&latest)
    if mustDeliverQueued { delivery.deliverQueued() }
  }

  @inlinable
  package func subscribe(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription
  {
    join(receive) ?? .ended
  }

  /// Returns `nil` if it has ended without a result.
  @inlinable
  func join(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription? {
    if hasFinished { return joinLate(receive) }
    let callback = ErasedCallback(receive)
    let token = Subscription(to: delivery)
    let hasJoined = delivery.lock.withLock { state -> Bool? in
      unsafe latest.isEmpty ? state.join(token, callback) : nil
    }
    if hasJoined == true { return token }
    let receive = callback.take(for: Update.self)
    return hasJoined == nil ? joinLate(receive) : nil
  }

  /// Subscribes a late subscriber, which receives the latest update synchronously.
  ///
  /// It passes the closure on unchanged, because code without its type would wrap a copy of it
  /// again.
  @inlinable @inline(never)
  func joinLate(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription? {
    let thread = ThreadID.current
    let token = Subscription(to: delivery)
    let (latest, call) = delivery.lock.withLock { state -> (Update?, FirstCall?) in
      guard let latest = unsafe self.latest.value(of: Update.self) else {
        return (nil, delivery.join(token, receive, &state) ? nil : .only)
      }
      return (latest, delivery.join(token, receive, first: latest, from: thread, &state))
    }
    guard let latest else { return call == nil ? token : nil }
    guard let call else { return token }
    return delivery.makeFirstCall(call, receive, latest) ? token : .ended
  }
}
