public import MiniRex
public import MiniRexStore

extension Store {
  /// Runs jobs of the state after the commits that added them are on the disk.
  ///
  /// ```swift
  /// let working = store.perform(
  ///   \.charges, Action.charges, atMost: 4,
  ///   retrying: .exponential(from: .seconds(1), upTo: .seconds(300)), in: journal
  /// ) { charge, attempt in
  ///   .charged(charge.id, try await pay(charge, idempotencyKey: charge.id))
  /// }
  /// ```
  ///
  /// No job starts before a kill or a power loss would keep it. Jobs share the synchronizations, and the beginnings and
  /// results of attempts wait for none. While the journal records nothing, or another store, no job starts. `perform`
  /// then tries again each second. The subscription retains the journal.
  ///
  /// See `perform` of the store for the other parameters and the guarantees.
  ///
  /// - Parameters:
  ///   - jobs: The key path of the jobs. Traps if this process already performs them.
  ///   - embed: Wraps an action of the jobs in an action of the store.
  ///   - limit: The maximum number of jobs that run at a time. Traps if less than 1.
  ///   - order: The jobs that must not run at the same time.
  ///   - retry: The delay after a failure, and the last attempt.
  ///   - journal: The journal that records the root store.
  ///   - clock: The only source of time, besides `now`.
  ///   - now: Returns the time of the calendar.
  ///   - work: A closure that does the work of a job. It receives the number of the attempt, from 1.
  /// - Returns: A subscription, which ends the runs when it is released.
  public func perform<Job, Root, RootAction>(
    _ jobs: any KeyPath<State, Jobs<Job>> & Sendable,
    _ embed: @escaping @Sendable (JobsAction<Job>) -> Action,
    atMost limit: Int, order: JobOrder<Job> = .addition,
    retrying retry: JobRetry = .exponential(from: .seconds(1), upTo: .seconds(300)),
    in journal: Journal<Root, RootAction>,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> UnixTime = { .now },
    _ work: @escaping @Sendable (_ job: Job, _ attempt: Int) async throws -> Action
  ) -> Subscription {
    let root = rootIdentity
    return perform(
      jobs, embed, atMost: limit, order: order, retrying: retry, clock: clock, now: now,
      whenDurable: { number in
        try journal.requireRecording(of: root)
        try await journal.flush(through: number)
      },
      isRecorded: { (try? journal.requireRecording(of: root)) != nil }, work)
  }
}
