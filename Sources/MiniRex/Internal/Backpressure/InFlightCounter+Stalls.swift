internal import Synchronization

/// The time for which a suspending subscriber has been full.
extension InFlightCounter {
  var slowSubscriber: SlowSubscriber? { slowSubscriber(adding: 0, for: nil) }

  /// - Parameters:
  ///   - count: The updates on their way to this place.
  ///   - duration: The duration for which they have had no room.
  func slowSubscriber(adding count: Int, for duration: Duration?) -> SlowSubscriber? {
    guard let duration = stall ?? duration else { return nil }
    return SlowSubscriber(
      place: root.place ?? CodePlace(fileID: "", line: 0), pendingUpdates: total + count,
      duration: duration)
  }

  /// The duration for which the counter has been full.
  var stall: Duration? {
    state.withLock { $0.fullSince }.map { limit.now() - $0 }
  }

  var hasTimedOut: Bool { hasTimedOutFlag.load(ordering: .acquiring) }

  /// - Parameter timeOut: A closure that cancels the subscriber and lets it finish its queue.
  func onTimeout(_ timeOut: @escaping @Sendable () -> Void) {
    if limit.timeout == nil { return }
    let timeOut = OnceClosure(timeOut)
    state.withLock { if !$0.isTimeoutOver { $0.timeOut = timeOut } }
  }

  /// Ends the timeout of a subscriber whose publisher has finished, or which is canceled.
  @usableFromInline
  func endTimeout() {
    if limit.timeout == nil { return }
    // They are released after the lock.
    let (alarm, timeOut) = state.withLock { state in
      state.isTimeoutOver = true
      return (state.alarm.take(), state.timeOut.take())
    }
    withExtendedLifetime(timeOut) { alarm?.end() }
  }

  func startTimeout(at now: Duration) {
    guard let timeout = limit.timeout else { return }
    let alarm: Alarm? = state.withLock { state in
      if state.isTimeoutOver { return nil }
      if let alarm = state.alarm { return alarm }
      let alarm = Alarm(limit.timekeeper) { [weak self] in self?.ring(at: $0) }
      state.alarm = alarm
      return alarm
    }
    alarm?.set(to: now + timeout, from: now)
  }

  private func ring(at instant: Duration) {
    guard let timeout = limit.timeout else { return }
    let takenAt = root.state.withLock { $0.takenAt }
    let (deadline, alarm) = state.withLock { state in
      (state.fullSince.map { max($0, takenAt) + timeout }, state.alarm)
    }
    guard let deadline else { return }
    if deadline > instant {
      alarm?.set(to: deadline, from: instant)
    } else {
      root.timeOut()
    }
  }

  private func timeOut() {
    guard let timeOut = state.withLock({ $0.timeOut.take() }) else { return }
    hasTimedOutFlag.store(true, ordering: .releasing)
    timeOut()
  }
}
