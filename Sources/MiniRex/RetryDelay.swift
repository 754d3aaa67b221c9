/// How long a task waits before it tries again.
public struct RetryDelay: Sendable {
  /// Begins the delays of one run, which are asked for one after the other.
  let begin: @Sendable () -> Delays

  /// The delays of one run.
  struct Delays {
    let next: () -> Duration
  }

  /// Always the same delay; a negative one stops the program.
  public static func constant(_ delay: Duration) -> RetryDelay {
    let delay = clampedWait(delay, of: "constant")
    return RetryDelay { Delays { delay } }
  }

  /// A delay that doubles each time, up to a cap.
  ///
  /// Jitter keeps many clients that failed at the same time from coming back at the same time.
  /// Every run uses a copy of the generator: one that is seeded gives every run the same delays.
  ///
  /// - Parameters:
  ///   - first: The first delay, before jitter; a negative one stops the program.
  ///   - cap: The longest delay; a negative one stops the program.
  ///   - jitter: The largest part of a delay, from 0 to 1, that is taken off at random; with 1, *full
  ///     jitter*, a delay is anything from nothing to all of it. Another one stops the program.
  ///   - generator: Where the randomness comes from.
  public static func exponential(
    from first: Duration, upTo cap: Duration, jitter: Double = 0,
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> RetryDelay {
    let first = clampedWait(first, of: "exponential(from:)")
    let cap = clampedWait(cap, of: "exponential(upTo:)")
    if !(0...1).contains(jitter) { misuse("'jitter' is a part from 0 to 1, not \(jitter).") }
    return RetryDelay {
      var generator = generator
      var following = first
      return Delays {
        let delay = min(following, cap)
        // A delay that has reached the cap grows no more, and so cannot overflow.
        if following < cap { following += following }
        if jitter == 0 { return delay }
        return delay * (1 - jitter * Double.random(in: 0...1, using: &generator))
      }
    }
  }
}
