/// One run of a task: its latest progress, and in the end its result.
///
/// Unchecked: everything is guarded by the lock of the delivery.
@usableFromInline
package final class TaskStorage<Update: Sendable>: @unchecked Sendable {
  /// - running: `latest` is the latest progress. Next: finished, or ended without a result.
  /// - finished: `latest` is the result.
  ///
  /// That it has ended without a result is what the delivery knows.
  @exclusivity(unchecked) private var isFinished = false
  @exclusivity(unchecked) private var latest: Update?
  @usableFromInline let delivery = Delivery<Update>()

  @usableFromInline
  package init() {}

  /// True if it will never have a result.
  var hasFailedToFinish: Bool {
    delivery.lock.withLock { state in
      unsafe state.schedule.hasEnded && !isFinished
    }
  }

  package var hasFinished: Bool {
    delivery.lock.withLock { _ in unsafe isFinished }
  }

  /// Delivers progress, unless the task is over.
  ///
  /// - Returns: False if it waits, or interests nobody.
  @discardableResult
  package func report(_ progress: Update) -> Bool {
    deliver(progress, isResult: false).isDelivered
  }

  /// Delivers the result, and ends; false if the task is over.
  @usableFromInline
  package func finish(_ result: Update) -> Bool {
    deliver(result, isResult: true).isAccepted
  }

  private func deliver(
    _ update: Update, isResult: Bool
  ) -> (isAccepted: Bool, isDelivered: Bool) {
    let thread = ThreadID.current
    var replaced: Update? = update
    let (isAccepted, turn) = delivery.lock.withLock { state -> (Bool, Turn?) in
      if state.schedule.hasEnded { return (false, nil) }
      unsafe swap(&latest, &replaced)
      let turn = delivery.admit(update, replacing: nil, from: thread, &state)
      if isResult {
        unsafe isFinished = true
        _ = delivery.end(on: thread, &state)
      }
      return (true, turn)
    }
    if let turn {
      delivery.deliver(update, turn)
      delivery.leave()
    }
    return (isAccepted, turn != nil)
  }

  /// Ends without a result, if there is none yet.
  package func end() {
    var latest: Update?
    delivery.lock.withLock { _ in
      if unsafe !isFinished { unsafe swap(&self.latest, &latest) }
    }
    delivery.end()
  }

  @usableFromInline
  package func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery)
    let (latest, call) = delivery.lock.withLock { state -> (Update?, FirstCall?) in
      guard let latest = unsafe self.latest else {
        return (nil, delivery.join(token, receive, &state) ? nil : .only)
      }
      return (latest, delivery.join(token, receive, first: latest, from: thread, &state))
    }
    guard let latest else { return call == nil ? token : .ended }
    guard let call else { return token }
    return delivery.makeFirstCall(call, receive, latest) ? token : .ended
  }
}
