public import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Journal {
  /// Returns the state that the store had, by reducing the recorded actions again.
  ///
  /// ```swift
  /// let before = try journal.replay(Board(), upTo: journal.lastNumber - 1, reducer: reducer)
  /// ```
  ///
  /// `nil` and a number after the last commit return the newest state. A number returns the state after that
  /// commit, in the run that made it. If the next recording began with another state, that state counts from the next
  /// commit on: ``replay(_:before:reducer:)`` returns it. `0` returns the state of the first recording.
  ///
  /// Throws ``JournalFailure/notKept(first:)`` for a number before the first kept state, and for a number in a closed
  /// file that was moved away.
  ///
  /// Reads from the last state before the commit that can be decoded, and starts no effect. Damage in the lines after
  /// that state, or an action that cannot be decoded, is an error, never the result of fewer commits. You can call it
  /// during a recording, from any thread.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - number: The number of the last commit that counts. By default, all commits count.
  ///   - reducer: The store's reducer. Its effects are ignored.
  public func replay(
    _ initial: State, upTo number: Int? = nil, reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let (newest, segments, generation) = file.files
    let replay = JournalReplay(newest: newest, segments: segments, decoder: decoder)
    let state = try replay.state(initial, upTo: number, reducer)
    if number ?? Int.max > newest.number { remember(state, at: generation) }
    return state
  }

  /// Returns the state that a commit changed.
  ///
  /// The result is the state after the previous commit, unless a recording began with another state between the two.
  /// A number after the last commit returns the newest state. See ``replay(_:upTo:reducer:)`` for cost and errors.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded before the commit.
  ///   - number: The number of the first commit that does not count.
  ///   - reducer: The store's reducer. Its effects are ignored.
  public func replay(
    _ initial: State, before number: Int, reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let (newest, segments, _) = file.files
    return try JournalReplay(newest: newest, segments: segments, decoder: decoder)
      .state(initial, before: number, reducer)
  }
}
