public import MiniRex
public import MiniRexStore

extension TestStore {
  /// Runs jobs of the state, whose actions the test asserts.
  ///
  /// ```swift
  /// store.perform(\.charges, ShopAction.charges, atMost: 1, now: now) { charge, _ in
  ///   .charged(charge.id)
  /// }
  /// try store.send(.ordered(1)) { $0.charges.add(Charge(id: 1)) }
  /// let began = JobsAction<Charge>.began(id: 1, attempt: 1, at: now())
  /// try await store.receive(.charges(began)) { $0.charges.reduce(began) }
  /// try await store.receive(.charged(1)) {
  ///   $0.charges.remove(1)
  ///   $0.receipts = [1]
  /// }
  /// ```
  ///
  /// Assert each beginning, result, and failure with `receive`. It waits while a job runs, or waits for a time. At the
  /// end of the test, a job that keeps running is a failure, and a job that waits for a time is not. See `perform` of
  /// the store for the parameters.
  ///
  /// - Returns: A subscription, which the test store retains until the end of the test. Canceling it ends the runs.
  @discardableResult
  public func perform<Job>(
    _ jobs: any KeyPath<State, Jobs<Job>> & Sendable,
    _ embed: @escaping @Sendable (JobsAction<Job>) -> Action,
    atMost limit: Int, order: JobOrder<Job> = .addition,
    retrying retry: JobRetry = .exponential(from: .seconds(1), upTo: .seconds(300)),
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> UnixTime = { .now },
    _ work: @escaping @Sendable (_ job: Job, _ attempt: Int) async throws -> Action
  ) -> Subscription {
    let working = store.perform(
      jobs, { .received(embed($0)) }, atMost: limit, order: order, retrying: retry, clock: clock,
      now: now
    ) { job, attempt in .received(try await work(job, attempt)) }
    retain(working)
    return working
  }
}
