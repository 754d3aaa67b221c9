public import MiniRex

extension ManualClock {
  /// Calls `action` at the deadline, inside the advance that reaches it.
  public func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    let (key, watchers) = timetable.withLock { $0.add(deadline, action) }
    for watcher in watchers { watcher.wake() }
    return token(of: key)
  }

  /// Suspends the task until the deadline, or throws `CancellationError` if it is cancelled before.
  ///
  /// A deadline that is not later than now is no reason to suspend.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let nap = Nap()
    let entry = timetable.withLock { table in
      deadline <= table.now ? nil : table.add(deadline) { nap.wake() }
    }
    guard let (key, watchers) = entry else { return }
    for watcher in watchers { watcher.wake() }
    let token = token(of: key)
    await nap.sleep {
      token.invalidate()
      nap.wake(byCancelling: true)
    }
    if nap.wasCancelled { throw CancellationError() }
  }

  /// Moves the time on from deadline to deadline, each time when enough are asleep.
  ///
  /// ```swift
  /// let polling = Task {
  ///   while true {
  ///     try await clock.sleep(for: .seconds(1))
  ///     polls.increment()
  ///   }
  /// }
  /// await clock.advance(by: .seconds(3), sleepers: 1)
  /// #expect(polls.value == 3)
  /// ```
  ///
  /// The clock can wake a task, but not know what it does then, or how long. So say how many will
  /// be waiting for a deadline when all is quiet, tasks and closures: it waits for that many before
  /// it begins, and again after each deadline on the way. It then finds what they have done, and a
  /// task that sleeps in a loop does so once for each of its deadlines. If fewer ever sleep, it
  /// waits until its own task is cancelled, and then stops where it is.
  ///
  /// With 0, it does what ``advance(by:)`` does, without holding a thread. Wait for what the woken
  /// task gives, its value say. A negative duration or number stops the program.
  public func advance(by duration: Duration, sleepers count: Int = 0) async {
    requireForward(duration)
    var rest = duration
    await waitForSleepers(count)
    while count > 0, !Task.isCancelled, let step = untilNext, step <= rest {
      rest -= step
      await move(by: step)
      await waitForSleepers(count)
    }
    if count == 0 || !Task.isCancelled { await move(by: rest) }
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

  private var untilNext: Duration? {
    timetable.withLock { table in
      table.nextDeadline.map { max(.zero, table.now.duration(to: $0)) }
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

  private func token(of key: Sleeper.Key) -> Subscription {
    Subscription {
      // What it would have called is released after the lock.
      _ = self.timetable.withLock { $0.remove(key) }
    }
  }
}
