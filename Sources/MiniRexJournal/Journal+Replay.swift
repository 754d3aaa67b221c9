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
  /// commit on: ``replay(_:before:reducer:)`` returns it. `0` returns the state of the first recording, and a negative
  /// number `initial`.
  ///
  /// Reads from the last state that was written before the commit, and starts no effect. Damage in these lines, or a
  /// type that cannot decode them, is an error, never an older state. You can call it during a recording, from any
  /// thread.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - number: The number of the last commit that counts. By default, all commits count.
  ///   - reducer: The store's reducer. Its effects are ignored.
  public func replay(
    _ initial: State, upTo number: Int? = nil, reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let (end, newest) = file.extent
    guard let number, number <= newest else {
      return try replay(initial, upTo: Int.max, before: end, reducer)
    }
    let near = number < newest ? try file.endOfLines(upTo: number, before: end) : end
    let runEnd = try file.endOfRun(of: number, before: near)
    return try replay(initial, upTo: number, before: runEnd, reducer)
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
    let (end, newest) = file.extent
    let last = max(number, 0) - 1
    let near = last < newest ? try file.endOfLines(upTo: last, before: end) : end
    return try replay(initial, upTo: last, before: near, reducer)
  }

  private func replay(
    _ initial: State, upTo last: Int, before end: Int, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    var run = StateReplay<State, Action>(initial)
    let start = try startOfReplay(upTo: last, before: end)
    var lines = JournalLines(of: file, from: start, to: end)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.number > last { return run.state }
      try run.take(line, at: offset, reducer)
    }
    remember(run.state, at: end)
    return run.state
  }

  /// Returns the offset of the last line with a state that can be decoded.
  private func startOfReplay(upTo number: Int, before end: Int) throws(JournalFailure) -> Int {
    var lines = file.linesBackwards(before: end)
    let decoder = makeDecoder()
    while let (offset, bytes) = try lines.next() {
      if let line = JournalLine(unchecked: bytes), line.kind.hasState, line.number <= number,
        JournalLine(bytes) != nil,
        (try? decoder.decode(State.self, from: Data(line.payload))) != nil
      {
        return offset
      }
    }
    return min(journalHeader.count, end)
  }
}

extension Journal where State: Equatable {
  /// Reduces all recorded actions, and compares the results with the recorded states.
  ///
  /// A reducer that reads a clock, a random number, or the outside world returns another state each time. A changed
  /// reducer can also return another state. `verify` throws `JournalFailure.diverged(number:)` at the first recorded
  /// state that does not follow from the lines before it.
  ///
  /// The recorded states are the snapshots and the first states of recordings that continued the file. `verify` adopts
  /// all other states, because they do not follow from the lines before them: the first state of a recording that began
  /// again, and a commit without an action. States with equal JSON are equal, so that NaN equals itself.
  ///
  /// It reads the entire file.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - reducer: The store's reducer. Its effects are ignored.
  public func verify(_ initial: State, reducer: Reducer<State, Action>) throws(JournalFailure) {
    let end = file.extent.length
    var run = StateReplay<State, Action>(initial)
    var lines = JournalLines(of: file, from: min(journalHeader.count, end), to: end)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.kind == .snapshot, run.number != nil {
        let state = try run.stateOf(line)
        if state != run.state, !haveEqualJSON(state, run.state) {
          throw .diverged(number: line.number)
        }
      }
      try run.take(line, at: offset, reducer)
    }
  }
}

/// NaN equals itself in JSON.
private func haveEqualJSON(_ one: some Encodable, _ other: some Encodable) -> Bool {
  let encoder = makeEncoder()
  guard let json = try? encoder.encode(one) else { return false }
  return json == (try? encoder.encode(other))
}
