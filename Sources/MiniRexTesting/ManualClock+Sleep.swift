public import MiniRex

extension ManualClock {
  /// Calls `action` at the deadline, inside the advance that reaches it.
  public func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    let (key, watchers) = timetable.withLock { table in
      let key = table.key(for: deadline)
      return (key, table.add(Sleeper(key: key, wake: action)))
    }
    for watcher in watchers { watcher.wake() }
    return Subscription {
      // What it would have called is released after the lock.
      _ = self.timetable.withLock { $0.remove(key) }
    }
  }

  /// Suspends the task until the deadline, or throws `CancellationError` if it is cancelled before.
  ///
  /// A deadline that is not later than now is no reason to suspend.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let nap = Nap()
    let key = timetable.withLock { $0.key(for: deadline) }
    await nap.sleep {
      // Where a cancellation finds it: whoever has waited for this sleeper may cancel it at once.
      let watchers: [Nap]? = timetable.withLock { table in
        if deadline <= table.now || nap.isOver { return nil }
        return table.add(Sleeper(key: key) { nap.wake() })
      }
      guard let watchers else { return nap.wake() }
      for watcher in watchers { watcher.wake() }
    } onCancel: {
      nap.wake(byCancelling: true) {
        _ = timetable.withLock { $0.remove(key) }
      }
    }
    if nap.wasCancelled { throw CancellationError() }
  }

  /// Waits until enough are asleep, and then moves the time on.
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
  /// Say how many are to wait for a deadline before the time moves, tasks and closures. If fewer
  /// ever do, it waits until its own task is cancelled, and then stops where it is.
  ///
  /// The clock can wake a task, but not know what it does then, or how long, or if it will sleep
  /// again: so after the move it waits for nobody. Wait for what the woken task gives, its value
  /// say, or, if it sleeps again, use ``waitForSleepers(_:)``. A task that sleeps in a loop sleeps
  /// again from the time that it finds: let it do that after each of its deadlines.
  ///
  /// With 0, it does what ``advance(by:)`` does, without holding a thread. A negative duration or
  /// number stops the program.
  public func advance(by duration: Duration, sleepers count: Int = 0) async {
    requireForward(duration)
    await waitForSleepers(count)
    if count == 0 || !Task.isCancelled { await move(by: duration) }
  }

  /// Waits until at least so many tasks and closures wait for a deadline, or its task is cancelled.
  ///
  /// A negative number stops the program.
  public func waitForSleepers(_ count: Int) async {
    if count < 0 { misuse("'waitForSleepers' takes a count of 0 or more, not \(count).") }
    let nap = Nap()
    if timetable.withLock({ !$0.watch(nap, for: count) }) { return }
    await nap.sleep {
      self.timetable.withLock { $0.forget(nap) }
      nap.wake(byCancelling: true)
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
