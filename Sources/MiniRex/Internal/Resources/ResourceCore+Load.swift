/// The reason for a load.
enum LoadCause {
  /// A caller waits for it.
  case waiter
  /// A caller or a subscriber needs it, and does not wait.
  case reader
  /// The clock.
  case clock
}

extension ResourceCore {
  func begin(_ attempt: ResourceSchedule.Attempt, of run: LoadRun, _ cause: LoadCause) {
    lineage?.resource?.countLoad()
    // Work that does not wait for this load is not part of a cycle through it.
    let workHandle = WorkHandle.$current.withValue(run.waiter) { WorkHandle() }
    let begin = {
      run.attempt(by: workHandle, isDetached: cause == .clock && run.carried == nil) {
        [load = self.load.content.call] in
        await outcome(of: load)
      } finish: { result in
        self.finish(attempt, of: run, result)
      }
    }
    if cause == .clock, let carried = run.carried { carried.run(begin) } else { begin() }
  }

  private func finish(
    _ attempt: ResourceSchedule.Attempt, of run: LoadRun, _ result: Result<Value, Failure>
  ) {
    let now = timekeeper.now()
    switch result {
    case .success(let value):
      change(resolving: result) {
        unsafe schedule.succeed(attempt.load, at: now) ? .value(value) : .unchanged
      }
    case .failure(let failure):
      guard delivery.lock.withLock({ _ in unsafe schedule.attempt == attempt }) else { return }
      lineage?.resource?.countFailure()
      let delay =
        attempt.number <= policy.retries && policy.isWorthIt(failure)
        ? run.nextDelay(of: policy.retryDelay) : nil
      change(resolving: result) {
        let retryTime = delay.map { now + $0 }
        guard unsafe schedule.fail(attempt.load, at: now, retryingAt: retryTime) else {
          return .unchanged
        }
        // Without a delay, the retry starts here. The clock would start it in another call.
        if delay == .zero { unsafe schedule.wake(at: now) }
        return .failure(failure)
      }
    }
  }

  func wake(at instant: Duration) {
    let now = max(instant, timekeeper.now())
    change(by: .clock) {
      unsafe schedule.wake(at: now)
      return .unchanged
    }
  }

  func refresh() {
    let now = timekeeper.now()
    change {
      unsafe schedule.refresh(at: now)
      return .unchanged
    }
  }

  /// Requests a load of a stale value, unless another caller has loaded it since.
  func refreshStale() {
    let now = timekeeper.now()
    change {
      if unsafe !schedule.isFresh(at: now) { unsafe schedule.refresh(at: now) }
      return .unchanged
    }
  }

  func invalidate() {
    change {
      if unsafe schedule.hasEnded { return .unchanged }
      unsafe schedule.invalidate()
      return .none
    }
  }

  func set(_ value: Value) {
    let now = timekeeper.now()
    change(resolving: .success(value)) {
      if unsafe schedule.hasEnded { return .unchanged }
      unsafe schedule.set(at: now)
      return .value(value)
    }
  }

  func end() {
    change {
      unsafe schedule.end()
      return .unchanged
    }
    alarm.end()
    delivery.end()
    lineage?.sourceHasEnded()
  }
}
