import Synchronization

extension Publisher where Kind == TaskKind {
  /// Makes a task of an async function, which is tried again when it throws.
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
  ///   - isWorthIt: Called with each failure but that of the last try: false if another try is of
  ///     no use, so that it fails with this one at once.
  ///   - work: What is tried.
  public static func retrying<Success: Sendable, Failure: Error>(
    times: Int, delay: RetryDelay = .constant(.zero),
    clock: any Clock<Duration> = ContinuousClock(),
    while isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) -> PublishedTask<Success, Failure> where Update == Result<Success, Failure> {
    let retries = Retries(times: times, delay: delay, clock: clock, isWorthIt: isWorthIt)
    return Publisher { () async throws(Failure) in try await retries.run(work) }
  }
}

extension Publisher where Kind == ProgressiveTaskKind {
  /// Makes a task of an async function that reports how far it is, which is tried again when it
  /// throws.
  ///
  /// ```swift
  /// let file = ProgressiveTask.retrying(times: 3) { report in
  ///   try await download(url, report)
  /// }
  /// ```
  ///
  /// The progress of every try is told as it comes: nothing is told when a try fails, and the next
  /// one goes back to wherever it begins to report. What a try reports after it has failed is left
  /// out. Otherwise it is like the `retrying` of a ``PublishedTask``.
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
    let retries = Retries(times: times, delay: delay, clock: clock, isWorthIt: isWorthIt)
    return Publisher {
      (report: @escaping @Sendable (Progress) -> Void) async throws(Failure) -> Success in
      try await retries.run { () async throws(Failure) in
        let attempt = Attempt()
        defer { attempt.isOver.store(true, ordering: .relaxed) }
        return try await work { if !attempt.isOver.load(ordering: .relaxed) { report($0) } }
      }
    }
  }
}

/// How often, when and after which failures work is tried again.
private struct Retries<Failure: Error>: Sendable {
  private let times: Int
  private let delay: RetryDelay
  private let clock: any Clock<Duration>
  private let isWorthIt: @Sendable (Failure) -> Bool

  init(
    times: Int, delay: RetryDelay, clock: any Clock<Duration>,
    isWorthIt: @escaping @Sendable (Failure) -> Bool
  ) {
    if times < 0 { misuse("'retrying' takes a count of 0 or more, not \(times).") }
    self.times = times
    self.delay = delay
    self.clock = clock
    self.isWorthIt = isWorthIt
  }

  func run<Success>(_ work: () async throws(Failure) -> Success) async throws(Failure) -> Success {
    let delays = delay.begin()
    for _ in 0..<times {
      let result = await outcome(of: work)
      guard case .failure(let failure) = result, !Task.isCancelled, isWorthIt(failure),
        await pause(for: delays.next(), on: clock)
      else { return try result.get() }
    }
    return try await work()
  }
}

private final class Attempt: Sendable {
  let isOver = Atomic(false)
}

/// False if there is to be no other try: the run is cancelled, or the clock has stopped.
private func pause(for delay: Duration, on clock: some Clock<Duration>) async -> Bool {
  do {
    try await clock.sleep(until: clock.now.advanced(by: delay), tolerance: nil)
  } catch {
    return false
  }
  return !Task.isCancelled
}
