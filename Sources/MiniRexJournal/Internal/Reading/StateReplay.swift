internal import MiniRexStore

/// A state, changed by one line after the other.
struct StateReplay<State: Codable & Sendable, Action: Codable & Sendable> {
  private(set) var state: State
  /// The number of the last line, or `nil` before the first line.
  private(set) var number: Int?
  let decoder: JournalDecoder<State, Action>

  init(_ initial: State, _ decoder: JournalDecoder<State, Action>) {
    state = initial
    self.decoder = decoder
  }

  /// Begins at a state in a file, unless it cannot be decoded.
  mutating func begin(at line: JournalLine) throws(JournalFailure) -> Bool {
    do throws(JournalFailure) {
      state = try decoder.state(of: line)
    } catch .unreadable {
      return false
    } catch {
      throw error
    }
    number = line.number
    return true
  }

  mutating func take(_ line: JournalLine, at offset: Int, _ reducer: Reducer<State, Action>)
    throws(JournalFailure)
  {
    if !line.follows(number) { throw .damaged(atByte: offset) }
    switch line.kind {
    case .action: _ = reducer(&state, try decoder.action(of: line))
    case .snapshot where number != nil, .resume: break
    case .state, .start, .snapshot: state = try decoder.state(of: line)
    }
    if line.back == nil || number == nil { number = line.number }
  }
}
