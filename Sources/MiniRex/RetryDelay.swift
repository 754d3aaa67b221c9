/// The delay between two attempts of a task.
public struct RetryDelay: Sendable {
  /// Creates the sequence of delays of one run.
  let begin: @Sendable () -> Delays

  /// The delays of one run.
  struct Delays {
    let next: () -> Duration
  }

  /// Returns the delay after a number of failures, for retries that a restart of the program interrupts.
  ///
  /// No policy changes its delay after 128 failures: the shortest first delay has then doubled to the
  /// longest cap.
  package func delay(afterFailures count: Int) -> Duration {
    let delays = begin()
    for _ in 1..<min(max(count, 1), 128) { _ = delays.next() }
    return delays.next()
  }

  /// Returns a policy with the same delay before each attempt.
  ///
  /// Traps if it is negative.
  public static func constant(_ delay: Duration) -> RetryDelay {
    let delay = clampedWait(delay, of: "constant")
    return RetryDelay { Delays { delay } }
  }

  /// Returns a policy whose delay doubles before each attempt, up to a cap.
  ///
  /// Jitter prevents clients that failed together from retrying together. Each run uses a copy of
  /// the generator, so a seeded generator yields the same delays in every run.
  ///
  /// - Parameters:
  ///   - first: The first delay, before jitter. Traps if negative.
  ///   - cap: The longest delay. Traps if negative.
  ///   - jitter: The largest fraction of a delay, from 0 to 1, that is subtracted at random. With
  ///     1, *full jitter*, a delay lies between 0 and its full length. Traps if outside 0 to 1.
  ///   - generator: The random number generator.
  public static func exponential(
    from first: Duration, upTo cap: Duration, jitter: Double = 0,
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> RetryDelay {
    let first = clampedWait(first, of: "exponential(from:)")
    let cap = clampedWait(cap, of: "exponential(upTo:)")
    if !(0...1).contains(jitter) {
      misuse("'jitter' requires a fraction from 0 to 1, not \(jitter).")
    }
    return RetryDelay {
      var generator = generator
      var following = first
      return Delays {
        let delay = min(following, cap)
        // A delay at the cap stays there, and therefore cannot overflow.
        if following < cap { following += following }
        if jitter == 0 { return delay }
        return delay * (1 - jitter * Double.random(in: 0...1, using: &generator))
      }
    }
  }
}
