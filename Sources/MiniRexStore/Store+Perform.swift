public import MiniRex

extension Store {
  /// Runs jobs of the state, and commits their attempts, failures, and results.
  ///
  /// ```swift
  /// let working = store.perform(\.charges, Action.charges, atMost: 4) { charge, attempt in
  ///   .charged(charge.id, try await pay(charge, idempotencyKey: charge.id))
  /// }
  /// ```
  ///
  /// A job starts after the commit that added it. Its attempt begins as a commit. The action that `work` returns is
  /// the next commit, and should remove the job. If it does not, a further commit removes the job. An error of `work`
  /// is a commit, which records the time of the next attempt, or gives the job up. A crash between the work and its
  /// commit repeats the work, so `work` needs an idempotency key.
  ///
  /// A commit that removes or replaces a running job cancels its Swift task and drops its result. The canceled job
  /// counts as running until its closure has returned. `work` runs in detached Swift tasks. Releasing the subscription
  /// cancels the runs and commits nothing. The jobs stay in the state. `await invalidateAndWait()` also waits until the
  /// closures have returned. The subscription does not retain the store, and ends with it. A scope must be retained as
  /// well.
  ///
  /// With `import MiniRexJournal`, the parameter `in:` delays each start until the job is on the disk. See
  /// <doc:WorkThatSurvives>.
  ///
  /// - Parameters:
  ///   - jobs: The key path of the jobs. Traps if this process already performs them.
  ///   - embed: Wraps an action of the jobs in an action of the store, whose reducer must apply it with
  ///     ``Jobs/reduce(_:)``.
  ///   - limit: The maximum number of jobs that run at a time. Traps if less than 1.
  ///   - order: The jobs that must not run at the same time. By default, the order of addition decides alone.
  ///   - retry: The delay after a failure, and the last attempt.
  ///   - clock: The only source of time, besides `now`. An idle `perform` sets no timer.
  ///   - now: Returns the time of the calendar, which decides about earliest times. If it jumps forward, jobs start at
  ///     most a second later. They never start early.
  ///   - work: A closure that does the work of a job. It receives the number of the attempt, from 1.
  /// - Returns: A subscription, which ends the runs when it is released.
  public func perform<Job>(
    _ jobs: any KeyPath<State, Jobs<Job>> & Sendable,
    _ embed: @escaping @Sendable (JobsAction<Job>) -> Action,
    atMost limit: Int, order: JobOrder<Job> = .addition,
    retrying retry: JobRetry = .exponential(from: .seconds(1), upTo: .seconds(300)),
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> UnixTime = { .now },
    _ work: @escaping @Sendable (_ job: Job, _ attempt: Int) async throws -> Action
  ) -> Subscription {
    perform(
      jobs, embed, atMost: limit, order: order, retrying: retry, clock: clock, now: now,
      whenDurable: nil, isRecorded: { true }, work)
  }

  /// Runs jobs that start when their commits are durable.
  ///
  /// - Parameters:
  ///   - whenDurable: Returns when the commit with a number is durable. After an error, it is called again a second
  ///     later.
  ///   - isRecorded: Returns `false` if a commit would not become durable, so that no job starts.
  package func perform<Job>(
    _ jobs: any KeyPath<State, Jobs<Job>> & Sendable,
    _ embed: @escaping @Sendable (JobsAction<Job>) -> Action,
    atMost limit: Int, order: JobOrder<Job>, retrying retry: JobRetry,
    clock: any Clock<Duration>, now: @escaping @Sendable () -> UnixTime,
    whenDurable: (@Sendable (Int) async throws -> Void)?,
    isRecorded: @escaping @Sendable () -> Bool,
    _ work: @escaping @Sendable (Job, Int) async throws -> Action
  ) -> Subscription {
    if limit < 1 { misuse("'atMost' requires a count of 1 or more, not \(limit).") }
    let performer = JobsPerformer(
      of: self, key(ofJobs: jobs), clock: clock,
      .init(
        path: jobs, embed: embed, limit: limit, order: order, retry: retry, now: now,
        whenDurable: whenDurable, isRecorded: isRecorded, work: work))
    if !JobsRegistry.add(performer) {
      misuse(
        "The jobs at \(jobs) are already performed. Retain one subscription, and cancel it before "
          + "another 'perform'.")
    }
    let sentinel = Sentinel { performer.end() }
    let commits = backing.subscribeToCommits { commit in
      withExtendedLifetime(sentinel) { performer.receive(commit) }
    }
    return Subscription(
      gate: commits,
      inputs: [performer.handle.subscription { [weak performer] in performer?.end() }]
    )
  }

  private func key(ofJobs path: any AnyKeyPath & Sendable) -> JobsKey {
    switch backing {
    case .root:
      return JobsKey(root: rootIdentity, child: nil, path: path)
    case .scope(let scope):
      let (child, path) = scope.location(of: path)
      return JobsKey(root: rootIdentity, child: child, path: path)
    }
  }
}
