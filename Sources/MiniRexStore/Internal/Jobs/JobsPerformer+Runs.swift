import MiniRex

/// The reason why an action is not sent.
private struct Outdated: Error {}

/// Attempts: their beginnings, their work, and their results.
extension JobsPerformer {
  /// Commits the beginning of an attempt, and runs it.
  ///
  /// - Returns: `false` if a delivered commit has changed the job, or a replica has rejected the beginning. A commit
  ///   that is not delivered yet begins the next jobs when it is, so that a replaced job keeps its place.
  func begin(_ run: JobRun<Job>) -> Bool {
    let action = choices.embed(.began(id: run.id, attempt: run.attempt, at: choices.now()))
    let receipt = send(action) { node in
      !run.isOver && node(run.number)?.box === run.box
    } reading: { node in
      node(run.number)?.box === run.box
    }
    guard let receipt, isReduced(leavesUnchanged: receipt.value) else {
      return memory.withLock { memory in
        if receipt != nil { memory.schedule.reject(run.number) }
        memory.forget(run)
        return receipt == nil && memory.jobs.node(run.number)?.box === run.box
      }
    }
    run.begin(in: receipt.number ?? 0)
    memory.withLock { $0.attempts += 1 }
    run.attach(
      Task.detached { [self] in
        // A journal writes the beginning when it is delivered. A kill before that would not count the attempt.
        if choices.whenDurable != nil { await store?.host.delivered() }
        if run.isOver { return finish(run, nil) }
        let result = await handle.run { try await choices.work(run.box.entry.job, run.attempt) }
        finish(run, result)
      })
    return true
  }

  /// Returns `false` if a replica rejected the beginning.
  ///
  /// Traps if the reducer does not apply the actions of the jobs.
  private func isReduced(leavesUnchanged: Bool) -> Bool {
    if !leavesUnchanged { return true }
    // A scope may belong to a replica.
    guard let store, store.isActive, !store.isScope, !store.isReplicated else { return false }
    misuse(
      "'perform' sent an action that did not change its jobs. Apply it in the reducer: "
        + "'case .jobs(let action): state.jobs.reduce(action)'.")
  }

  /// Returns `true` if the state has the job as it was before the attempt.
  private func isUnchanged(_ run: JobRun<Job>) -> Bool {
    store?.state[keyPath: choices.path].node(run.number)?.box === run.box
  }

  /// Ends a run that has returned.
  private func finish(_ run: JobRun<Job>, _ result: Result<Action, any Error>?) {
    if !run.finish() { return commit(result, of: run) }
    // The callbacks of the next beginnings would inherit the cancellation.
    Task.detached { [self] in commit(result, of: run) }
  }

  /// Commits the result of a run, and begins the next jobs.
  private func commit(_ result: Result<Action, any Error>?, of run: JobRun<Job>) {
    memory.withLock { $0.active += 1 }
    var isCommitted = true
    switch run.isOver ? nil : result {
    case nil: break
    case .success(let action):
      let isKept = commit(action, of: run)
      isCommitted = isKept != nil
      if isKept == true {
        _ = commit(choices.embed(.finished(id: run.id, attempt: run.attempt)), of: run)
      }
    case .failure(let error):
      let delay = choices.retry.delay(error, run.attempt)
      let time = choices.now()
      let failure = JobFailure(
        attempt: run.attempt, description: String("\(error)".prefix(500)), time: time)
      let retryTime = delay.map { time.advanced(by: max(.zero, $0)) }
      isCommitted =
        commit(choices.embed(.failed(id: run.id, failure, retryAt: retryTime)), of: run) != nil
      memory.withLock { $0.failures += 1 }
    }
    // A replica may have rejected the beginning beside another commit.
    let isRejected = !isCommitted && isUnchanged(run)
    memory.withLock { memory in
      if isRejected { memory.schedule.reject(run.number) }
      memory.forget(run)
    }
    advance()
    leave()
  }

  /// Sends an action about the attempt.
  ///
  /// - Returns: `nil` if the job is no longer in this attempt, and `false` if the commit has ended the attempt. A
  ///   later commit does not count, because an undo may restore the job, which then runs again.
  private func commit(_ action: Action, of run: JobRun<Job>) -> Bool? {
    let runs: @Sendable (JobNode<Job>?) -> Bool = { node in
      guard let entry = node?.box.entry else { return false }
      return entry.id == run.id && entry.runs(run.attempt)
    }
    return send(action) { node in
      !run.isOver && runs(node(run.number))
    } reading: {
      runs($0(run.number))
    }?.value
  }

  /// Sends an action if the jobs meet a condition, without another commit in between.
  ///
  /// - Returns: `nil` if the action is not sent, or dropped with a removed child.
  private func send<Value>(
    _ action: Action, if condition: (_ node: (Int) -> JobNode<Job>?) -> Bool,
    reading read: (_ node: (Int) -> JobNode<Job>?) -> Value
  ) -> Receipt<Value>? {
    let receipt = try? store?.send { state throws(Outdated) in
      guard condition({ state[keyPath: choices.path].node($0) }) else { throw Outdated() }
      return action
    } reading: { state in
      read { state[keyPath: choices.path].node($0) }
    }
    return receipt?.number == nil ? nil : receipt
  }
}
