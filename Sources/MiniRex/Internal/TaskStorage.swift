public import Synchronization

/// One run of a task: its latest progress, and in the end its result.
///
/// Unchecked: `latest` is guarded by the lock of the delivery.
@usableFromInline
package final class TaskStorage<Update: Sendable>: @unchecked Sendable {
  // It stands first, so that code that does not know the type of the updates finds it without a
  // search.
  @usableFromInline let delivery: Delivery<Update>
  /// - running: `latest` is the latest progress. Next: finished, or ended without a result.
  /// - finished: `latest` is the result.
  ///
  /// That it has ended without a result is what the delivery knows. It is set under the lock, and
  /// atomic so that whoever lets go of a finished task need not lock.
  @usableFromInline let isFinished = Atomic(false)
  /// False if those who subscribe late are not told what came before.
  @usableFromInline let remembersProgress: Bool
  @usableFromInline @exclusivity(unchecked) var latest = Remembered()

  @inlinable
  package init(remembersProgress: Bool = true) {
    delivery = Delivery()
    self.remembersProgress = remembersProgress
  }

  /// True if it will never have a result.
  var hasFailedToFinish: Bool {
    delivery.lock.withLock { state in
      state.schedule.hasEnded && !hasFinished
    }
  }

  @inlinable @inline(__always) package var hasFinished: Bool {
    isFinished.load(ordering: .acquiring)
  }

  /// What a subscriber would be called with at once.
  var current: Update? {
    delivery.lock.withLock { _ in unsafe latest.value(of: Update.self) }
  }

  /// Delivers progress, unless the task is over.
  ///
  /// - Returns: False if it waits, or interests nobody.
  @inlinable
  @discardableResult
  package func report(_ progress: Update) -> Bool {
    if !remembersProgress { return delivery.send(progress) }
    let thread = ThreadID.current
    var replaced: Update?
    let turn = delivery.lock.withLock { state -> Turn? in
      if state.schedule.hasEnded { return nil }
      replaced = unsafe latest.replace(by: progress)
      return delivery.admit(progress, replacing: nil, from: thread, &state)
    }
    withExtendedLifetime(replaced) {}
    guard let turn else { return false }
    delivery.deliver(progress, turn)
    delivery.leave()
    return true
  }

  /// Delivers the result, and ends; false if the task is over.
  @inlinable
  package func finish(_ result: Update) -> Bool {
    let thread = ThreadID.current
    var replaced: Update?
    let (isAccepted, turn) = delivery.lock.withLock { state -> (Bool, Turn?) in
      if state.schedule.hasEnded { return (false, nil) }
      replaced = unsafe latest.replace(by: result)
      isFinished.store(true, ordering: .releasing)
      return (true, delivery.admitLast(result, from: thread, &state))
    }
    withExtendedLifetime(replaced) {}
    if let turn {
      delivery.deliver(result, turn)
      delivery.drain()
    }
    return isAccepted
  }

  /// Ends without a result, if there is none yet.
  @inlinable @inline(__always)
  package func end() {
    if !hasFinished { endUnfinished() }
  }

  @inlinable @inline(never)
  func endUnfinished() {
    let thread = ThreadID.current
    var latest: Update?
    let mustDrain = delivery.lock.withLock { state in
      if hasFinished { return false }
      latest = unsafe self.latest.take(Update.self)
      return delivery.end(on: thread, &state)
    }
    withExtendedLifetime(latest) {}
    if mustDrain { delivery.drain() }
  }

  @inlinable
  package func subscribe(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription
  {
    join(receive) ?? .ended
  }

  /// `nil` if it has ended without a result, and will never call.
  @inlinable
  func join(_ receive: consuming @escaping @Sendable (Update) -> Void) -> Subscription? {
    if hasFinished { return joinLate(receive) }
    let callback = LooseCallback(receive)
    let token = Subscription(delivery, place: Subscription.nowhere)
    let hasJoined = delivery.lock.withLock { state -> Bool? in
      unsafe latest.isEmpty ? state.join(token, callback) : nil
    }
    if hasJoined == true { return token }
    let receive = callback.take(for: Update.self)
    return hasJoined == nil ? joinLate(receive) : nil
  }

  /// For whoever is told at once what came before.
  ///
  /// The closure as it is, because code that does not know its type would wrap a copy of it again.
  @inlinable @inline(never)
  func joinLate(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription? {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
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
