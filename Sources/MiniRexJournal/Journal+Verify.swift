public import MiniRexStore

/// The result of a verification that found no difference.
public struct JournalVerification: Sendable, Hashable {
  /// The number of the first state.
  public var firstNumber = 0
  /// The number of the last commit.
  public var lastNumber = 0
  /// The number of recorded states that equal the result of the lines before them.
  public var statesCompared = 0
}

extension Journal where State: Equatable {
  /// Reduces all recorded actions, and compares the results with the recorded states.
  ///
  /// A reducer that reads a clock, a random number, or the outside world returns another state each time. A changed
  /// reducer can also return another state. `verify` throws `JournalFailure.diverged(number:)` at the first recorded
  /// state that does not follow from the lines before it.
  ///
  /// The recorded states are the snapshots, the first states of recordings that continued the file, and the first states
  /// of files that continued another file. `verify` adopts all other states, because they do not follow from the lines
  /// before them: the first state of a recording that began again, and a commit without an action. States with equal JSON
  /// are equal, so that NaN equals itself.
  ///
  /// It reads all kept files.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - reducer: The store's reducer. Its effects are ignored.
  /// - Returns: The numbers, and the number of compared states.
  @discardableResult
  public func verify(_ initial: State, reducer: Reducer<State, Action>) throws(JournalFailure)
    -> JournalVerification
  {
    let (newest, segments, _) = file.files
    var verifier = JournalVerifier<State, Action>(initial, decoder)
    for (index, segment) in segments.list.enumerated() {
      let following = index + 1 < segments.list.count ? segments.list[index + 1] : nil
      if let part = try segments.open(index, before: newest, isWhole: true) {
        try verifier.take(part, upTo: following?.first ?? newest.header.first, reducer)
      } else {
        verifier.skip()
      }
      // A policy keeps the file of version 1, but not the files after it.
      if following?.sequence ?? newest.header.segment > segment.sequence + 1 { verifier.skip() }
    }
    try verifier.take(newest, upTo: nil, reducer)
    return verifier.result
  }
}
