/// The way in which a resource loads.
struct LoadPolicy<Failure: Error>: Sendable {
  let staleAfter: Duration?
  let interval: Duration?
  let retries: Int
  let retryDelay: RetryDelay
  let isWorthIt: @Sendable (Failure) -> Bool

  init(
    staleAfter: Duration?, refreshEvery interval: Duration?, retries: Int, retryDelay: RetryDelay,
    retryWhile isWorthIt: @escaping @Sendable (Failure) -> Bool
  ) {
    if let interval, interval <= .zero {
      misuse("'refreshEvery' requires a duration longer than 0, not \(interval).")
    }
    if retries < 0 { misuse("'retries' requires a count of 0 or more, not \(retries).") }
    self.staleAfter = staleAfter.map { clampedWait($0, of: "staleAfter") }
    self.interval = interval.map { min($0, .longestWait) }
    self.retries = retries
    self.retryDelay = retryDelay
    self.isWorthIt = isWorthIt
  }
}
