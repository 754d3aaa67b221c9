public import MiniRex

extension ManualClock {
  /// Runs `action` in the advance that reaches the deadline, on the thread of the advance.
  public func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    let (key, watchers) = timetable.withLock { table in
      let key = table.key(for: deadline)
      return (key, table.add(key, wake: action))
    }
    for watcher in watchers { watcher.wake() }
    return Subscription {
      // Release the action outside the lock.
      _ = self.timetable.withLock { $0.remove(key) }
    }
  }

  /// Suspends the task until the deadline, or throws `CancellationError` if it is canceled earlier.
  ///
  /// Returns immediately if the deadline is not in the future.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let request = SleepRequest()
    let key = timetable.withLock { $0.key(for: deadline) }
    await request.sleep {
      // Add the sleeper before waking the watchers, which may cancel it immediately.
      let watchers: [SleepRequest]? = timetable.withLock { table in
        if deadline <= table.now || request.isOver { return nil }
        return table.add(key) { request.wake() }
      }
      guard let watchers else { return request.wake() }
      for watcher in watchers { watcher.wake() }
    } onCancel: {
      request.wake(byCancelling: true) {
        _ = timetable.withLock { $0.remove(key) }
      }
    }
    if request.wasCancelled { throw CancellationError() }
  }

  /// Waits for sleepers, and then advances the time.
  ///
  /// ```swift
  /// let polling = Task {
  ///   while true {
  ///     try await clock.sleep(for: .seconds(1))
  ///     polls.increment()
  ///   }
  /// }
  /// for _ in 1...3 { await clock.advance(by: .seconds(1), sleepers: 1) }
  /// await clock.waitForSleepers(1)
  /// #expect(polls.value == 3)
  /// ```
  ///
  /// The wait is before the advance. The clock cannot detect when a resumed task has finished its work, so
  /// nothing is awaited after the advance. Await the value of the task, or use ``waitForSleepers(_:)`` if the
  /// task sleeps again. A task that sleeps in a loop computes its next deadline from the current time, so
  /// advance from deadline to deadline.
  ///
  /// The wait ends when enough tasks and closures sleep, or when the current task is canceled. After a
  /// cancellation with a `count` above 0, the time is unchanged. The call never blocks a thread.
  ///
  /// - Parameters:
  ///   - duration: The duration of the advance. Traps if negative.
  ///   - count: The number of tasks and closures with a pending deadline. The default is 0. Traps if
  ///     negative.
  public func advance(by duration: Duration, sleepers count: Int = 0) async {
    requireForward(duration)
    await waitForSleepers(count)
    if count == 0 || !Task.isCancelled { await move(by: duration) }
  }

  /// Waits until tasks and closures have pending deadlines, or until the current task is canceled.
  ///
  /// - Parameter count: The minimum number of tasks and closures. Traps if negative.
  public func waitForSleepers(_ count: Int) async {
    if count < 0 { misuse("'waitForSleepers' requires a count of 0 or more, not \(count).") }
    let request = SleepRequest()
    if timetable.withLock({ !$0.watch(request, for: count) }) { return }
    await request.sleep {
      self.timetable.withLock { $0.forget(request) }
      request.wake(byCancelling: true)
    }
  }

  private func move(by duration: Duration) async {
    await withCheckedContinuation { continuation in
      let thread = ThreadID.current
      let role = timetable.withLock { table in
        table.begin(to: table.goal.advanced(by: duration), from: thread) { continuation.resume() }
      }
      if role == .lead { lead() }
      if role != .follow { continuation.resume() }
    }
  }
}
