internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reduces the lines of all files, and compares the states in them.
struct JournalVerifier<State: Codable & Sendable & Equatable, Action: Codable & Sendable> {
  private(set) var result = JournalVerification()
  private var run: StateReplay<State, Action>
  /// A Boolean value that indicates whether commits between the last file and the next file can be missing.
  private var hasGap = true

  init(_ initial: State, _ decoder: JournalDecoder<State, Action>) {
    run = StateReplay(initial, decoder)
  }

  /// Continues after a file that was moved away.
  mutating func skip() { hasGap = true }

  /// Reduces the lines of the next file, and compares the states in them.
  ///
  /// - Parameter limit: The number of the first state of the next file, whose lines this file can have as well.
  mutating func take(_ part: JournalPart, upTo limit: Int?, _ reducer: Reducer<State, Action>)
    throws(JournalFailure)
  {
    if part.length == 0 { return }
    var late = try placesOfLateSnapshots(in: part)
    var isFirst = true
    var lines = part.lines(from: part.header.length)
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else {
        if limit != nil, try part.hasTornLine(bytes, at: offset, after: run.number) {
          hasGap = true
          return
        }
        throw .damaged(atByte: offset)
      }
      if let limit, line.number > limit { break }
      if late[offset] != nil { late[offset] = .some(run.state) }
      if isFirst {
        try begin(line, at: offset, reducer)
      } else {
        // A line before this state can be missing.
        if !line.follows(run.number) { throw .damaged(atByte: offset) }
        if line.isComparable {
          let place = offset - (line.back ?? 0)
          try compare(line, with: line.back == nil ? run.state : late[place] ?? nil)
          if line.back != nil { late[place] = nil }
        }
        try run.take(line, at: offset, reducer)
      }
      isFirst = false
      result.lastNumber = run.number ?? 0
    }
    hasGap = false
  }

  private mutating func begin(
    _ line: JournalLine, at offset: Int, _ reducer: Reducer<State, Action>
  ) throws(JournalFailure) {
    let number = run.number
    if let number, !hasGap, line.isComparable {
      if line.number != number { throw .damaged(atByte: offset) }
      try compare(line, with: run.state)
    } else if let number, line.number < number {
      throw .damaged(atByte: offset)
    }
    if number == nil { result.firstNumber = line.number }
    run = StateReplay(run.state, run.decoder)
    try run.take(line, at: offset, reducer)
  }

  private mutating func compare(_ line: JournalLine, with own: State?) throws(JournalFailure) {
    guard let own else { return }
    let state: State
    do throws(JournalFailure) {
      state = try run.decoder.state(of: line)
    } catch {
      // A replay skips such a snapshot as well.
      if case .unreadable = error, line.kind == .snapshot { return }
      throw error
    }
    if state != own, !haveEqualJSON(state, own) { throw .diverged(number: line.number) }
    result.statesCompared += 1
  }

  /// Finds the lines before which the state must be retained, because a later line has it.
  private func placesOfLateSnapshots(in part: JournalPart) throws(JournalFailure) -> [Int: State?] {
    var places: [Int: State?] = [:]
    if part.header.version == 1 { return places }
    var lines = part.lines(from: part.header.length)
    while let (offset, bytes) = try lines.next() {
      if let back = JournalLine(unchecked: bytes)?.back { places[offset - back] = .some(nil) }
    }
    return places
  }
}

/// NaN equals itself in JSON.
private func haveEqualJSON(_ one: some Encodable, _ other: some Encodable) -> Bool {
  let encoder = makeEncoder()
  guard let json = try? encoder.encode(one) else { return false }
  return json == (try? encoder.encode(other))
}
