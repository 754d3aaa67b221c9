extension Publisher where Kind == TaskKind {
  /// Makes a task of an async function, which is tried again when it throws.
  ///
  /// ```swift
  /// let user = PublishedTask.retrying(
  ///   times: 3, delay: .exponential(from: .milliseconds(100), upTo: .seconds(5), jitter: 0.5)
  /// ) { () async throws(FetchError) in
  ///   try await fetch(id)
  /// }
  /// ```
  ///
  /// The work starts with the first subscriber and is shared by all: each run tries up to `times +
  /// 1` times, one after the other, in a Swift task of its own. It fails with the failure of the
  /// last try. When the last subscriber leaves, that Swift task is cancelled, in a try or between
  /// two, there is no other try, and the next subscriber starts a fresh run.
  ///
  /// - Parameters:
  ///   - times: How often it is tried again; with 0, the work runs once. A negative one stops the
  ///     program.
  ///   - delay: How long it waits between a failure and the next try.
  ///   - clock: The only source of time.
  ///   - work: What is tried.
  public static func retrying<Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    if times < 0 { misuse("'retrying' takes a count of 0 or more, not \(times).") }
    return Publisher {
      () async throws(Failure) in
      try await retried(times: times, delay: delay, clock: clock, work)
    }
  }
}

private func retried<Success, Failure: Error>(
  times: Int, delay: RetryDelay, clock: any Clock<Duration>,
  _ work: () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  let delays = delay.begin()
  for _ in 0..<times {
    let result = await outcome(of: work)
    guard case .failure = result, await pause(for: delays.next(), on: clock) else {
      return try result.get()
    }
  }
  return try await work()
}

/// False if there is to be no other try: the run is cancelled, or the clock has stopped.
private func pause(for delay: Duration, on clock: some Clock<Duration>) async -> Bool {
  if Task.isCancelled { return false }
  do {
    try await clock.sleep(until: clock.now.advanced(by: delay), tolerance: nil)
  } catch {
    return false
  }
  return !Task.isCancelled
}
