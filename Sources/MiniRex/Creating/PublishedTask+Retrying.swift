import Synchronization

extension Publisher where Kind == TaskKind {
  /// Creates a task that runs an async function again when it throws.
  ///
  /// ```swift
  /// let user = PublishedTask.retrying(
  ///   times: 3, delay: .exponential(from: .milliseconds(100), upTo: .seconds(5), jitter: 1),
  ///   while: { $0 != .notFound }
  /// ) { () async throws(FetchError) in
  ///   try await fetch(id)
  /// }
  /// ```
  ///
  /// The work starts with the first subscriber and is shared by all. Each run makes up to `times +
  /// 1` attempts, one after the other, in one Swift task. It fails with the failure of the last
  /// attempt. Canceling the last subscription cancels that Swift task, during an attempt or between
  /// two, and no further attempt starts. The next subscriber starts a new run.
  ///
  /// - Parameters:
  ///   - times: The maximum number of further attempts. With 0, the work runs once. Traps if
  ///     negative.
  ///   - delay: The delay between a failure and the next attempt.
  ///   - clock: The only source of time.
  ///   - isWorthIt: A predicate for every failure except the last attempt's. If it returns `false`,
  ///     the task fails with that failure.
  ///   - work: The function to run.
  public static func retrying<Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    while isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    retrying(times: times, delay: delay, clock: clock, while: isWorthIt) {
      (_: Int) async throws(Failure) in try await work()
    }
  }

  /// Creates a task that runs an async function again when it throws, and passes it the number of
  /// the attempt.
  ///
  /// ```swift
  /// let page = PublishedTask.retrying(times: 3) { attempt in
  ///   try await fetch(mirrors[attempt % mirrors.count])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - times: The maximum number of further attempts. Traps if negative.
  ///   - delay: The delay between a failure and the next attempt.
  ///   - clock: The only source of time.
  ///   - isWorthIt: A predicate for every failure except the last attempt's. If it returns `false`,
  ///     the task fails with that failure.
  ///   - work: The function to run. The first attempt of each run has the number 1.
  public static func retrying<Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    while isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work: @escaping @Sendable (_ attempt: Int) async throws(Failure) -> Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    let retries = Retries(times: times, delay: delay, clock: clock, isWorthIt: isWorthIt)
    return Publisher { () async throws(Failure) in try await retries.run(work) }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Creates a task that runs an async function with progress again when it throws.
  ///
  /// ```swift
  /// let file = ProgressiveTask.retrying(times: 3) { report in
  ///   try await download(url, report)
  /// }
  /// ```
  ///
  /// The progress of each attempt is emitted as it is reported. A failed attempt emits nothing, and
  /// the next attempt starts with its own progress. Reports of an attempt that has failed are
  /// ignored. See the `retrying` of a ``PublishedTask`` for the parameters.
  public static func retrying<Progress: Sendable, Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    while isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work:
      @escaping @Sendable (
        _ report: @escaping @Sendable (Progress) -> Void
      ) async throws(Failure) -> Success
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    retrying(times: times, delay: delay, clock: clock, while: isWorthIt) {
      (_: Int, report: @escaping @Sendable (Progress) -> Void) async throws(Failure) -> Success in
      try await work(report)
    }
  }

  /// Creates a task that runs an async function with progress again when it throws, and passes it
  /// the number of the attempt.
  ///
  /// See the `retrying` of a ``PublishedTask`` for the parameters. The first attempt of each run has
  /// the number 1.
  public static func retrying<Progress: Sendable, Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    while isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work:
      @escaping @Sendable (
        _ attempt: Int, _ report: @escaping @Sendable (Progress) -> Void
      ) async throws(Failure) -> Success
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    let retries = Retries(times: times, delay: delay, clock: clock, isWorthIt: isWorthIt)
    return Publisher {
      (report: @escaping @Sendable (Progress) -> Void) async throws(Failure) -> Success in
      try await retries.run { (number: Int) async throws(Failure) in
        let attempt = Attempt()
        defer { attempt.isOver.store(true, ordering: .relaxed) }
        return try await work(number) { if !attempt.isOver.load(ordering: .relaxed) { report($0) } }
      }
    }
  }
}

/// The number, the delays, and the condition of further attempts.
private struct Retries<Failure: Error>: Sendable {
  private let times: Int
  private let delay: RetryDelay
  private let clock: any Clock<Duration>
  private let isWorthIt: @Sendable (Failure) -> Bool

  init(
    times: Int, delay: RetryDelay, clock: any Clock<Duration>,
    isWorthIt: @escaping @Sendable (Failure) -> Bool
  ) {
    if times < 0 { misuse("'retrying' requires a count of 0 or more, not \(times).") }
    self.times = times
    self.delay = delay
    self.clock = clock
    self.isWorthIt = isWorthIt
  }

  func run<Success>(
    _ work: (_ attempt: Int) async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let delays = delay.begin()
    for attempt in 0..<times {
      let result = await outcome { () async throws(Failure) in try await work(attempt + 1) }
      guard case .failure(let failure) = result, !Task.isCancelled, isWorthIt(failure),
        await pause(for: delays.next(), on: clock)
      else { return try result.get() }
    }
    return try await work(times + 1)
  }
}

private final class Attempt: Sendable {
  let isOver = Atomic(false)
}

/// Returns `false` if no further attempt may start: the run is canceled, or the clock has stopped.
private func pause(for delay: Duration, on clock: some Clock<Duration>) async -> Bool {
  do {
    try await clock.sleep(until: clock.now.advanced(by: delay), tolerance: nil)
  } catch {
    return false
  }
  return !Task.isCancelled
}
