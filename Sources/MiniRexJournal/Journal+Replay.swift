public import MiniRexStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Journal {
  /// Makes the state that the store had, by reducing the actions again.
  ///
  /// ```swift
  /// let before = try journal.replay(Board(), upTo: journal.lastNumber - 1, reducer: reducer)
  /// ```
  ///
  /// It begins no effect, and reads no more than the last state before that commit and the lines after it,
  /// which it finds without reading all that is written.
  /// What is damaged there, or of a type that has changed, is thrown: a part of the lines never passes for
  /// all of them. It may be called while a store is recorded.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - number: The last commit that counts; `nil` for all there are.
  ///   - reducer: The store's own; what it returns is ignored.
  public func replay(
    _ initial: State, upTo number: Int? = nil, reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let last = number ?? Int.max
    let (end, newest) = file.extent
    var run = JournalRun<State, Action>(initial)
    let near = last < newest ? try file.endOfLines(upTo: last, before: end) : end
    let start = try startOfReplay(upTo: last, before: near)
    var lines = JournalLines(of: file, from: start, to: end)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.number > last { break }
      try run.take(line, at: offset, reducer)
    }
    return run.state
  }

  /// Where the last line begins that has a state and can be read.
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
  /// Reduces all actions that there are, and compares what they make with the states in the file.
  ///
  /// A reducer that reads a clock, a random number or anything else but the state and the action makes
  /// another state each time, and so does one that was changed: `JournalFailure.diverged(number:)`.
  ///
  /// - Parameters:
  ///   - initial: The state if nothing was recorded.
  ///   - reducer: The store's own; what it returns is ignored.
  public func verify(_ initial: State, reducer: Reducer<State, Action>) throws(JournalFailure) {
    let end = file.extent.length
    var run = JournalRun<State, Action>(initial)
    var lines = JournalLines(of: file, from: min(journalHeader.count, end), to: end)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.kind == .snapshot, run.number != nil, try run.stateOf(line) != run.state {
        throw .diverged(number: line.number)
      }
      try run.take(line, at: offset, reducer)
    }
  }
}
