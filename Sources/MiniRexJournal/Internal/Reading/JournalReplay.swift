internal import MiniRexStore

/// Reduces the lines of a journal's files.
struct JournalReplay<State: Codable & Sendable, Action: Codable & Sendable> {
  let newest: JournalPart
  let segments: JournalSegments
  let decoder: JournalDecoder<State, Action>

  /// Returns the state after a commit, in the run that made it, or the newest state.
  func state(
    _ initial: State, upTo number: Int?, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    guard let number, number <= newest.number else {
      return try state(initial, upTo: Int.max, in: newest, before: newest.length, reducer)
    }
    if newest.length == 0, number >= 0 { return initial }
    do throws(JournalFailure) {
      return try state(initial, after: number, in: try segments.part(of: number, newest), reducer)
    } catch {
      guard error == .notKept(first: number) else { throw error }
      // The closed file with this commit belongs to another branch. The next file begins with this state.
      let next = try segments.part(of: number, newest, includesNext: true)
      return try state(initial, after: number, in: next, reducer)
    }
  }

  private func state(
    _ initial: State, after number: Int, in part: JournalPart, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    // The search compares no parts, because a wrong place only makes the replay fail.
    var searched = part
    searched.proof = nil
    do throws(JournalFailure) {
      let near = try searched.endOfLines(upTo: number, before: part.length)
      let runEnd = try part.endOfRun(of: number, before: near)
      return try state(initial, upTo: number, in: part, before: runEnd, endsAtCommit: true, reducer)
    } catch {
      if case .damaged = error { try part.proof?.checkAll() }
      throw error
    }
  }

  /// Returns the state that a commit changed.
  func state(
    _ initial: State, before number: Int, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    let last = max(number, 0) - 1
    let first = segments.list.first?.first ?? newest.header.first
    if newest.length == 0 || last < 0 && first == 0 { return initial }
    let part = try segments.part(of: min(last, newest.number), newest, includesNext: true)
    let near =
      last < newest.number ? try part.endOfLines(upTo: last, before: part.length) : part.length
    return try state(initial, upTo: last, in: part, before: near, reducer)
  }

  /// Begins at the last state before `end` that can be decoded.
  ///
  /// - Parameter endsAtCommit: `true` if no line after the last commit counts. Such a line can be lost, although the commit is
  ///   durable.
  private func state(
    _ initial: State, upTo last: Int, in part: JournalPart, before end: Int,
    endsAtCommit: Bool = false, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) -> State {
    var run = StateReplay(initial, decoder)
    var place = min(part.header.length, end)
    let start = try part.lastState(before: end) { line throws(JournalFailure) in
      if line.number > last { return false }
      return try run.begin(at: line)
    }
    if let start { place = start.next }
    var lines = part.lines(from: place, to: end)
    while !endsAtCommit || run.number != last, let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.number > last { break }
      try run.take(line, at: offset, reducer)
    }
    if endsAtCommit, run.number != last { throw .damaged(atByte: end) }
    return run.state
  }
}
