internal import MiniRexStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A state, changed by one line after the other.
struct StateReplay<State: Codable & Sendable, Action: Codable & Sendable> {
  private(set) var state: State
  /// The number of the last line, or `nil` before the first line.
  private(set) var number: Int?
  private let decoder = makeDecoder()

  init(_ initial: State) { state = initial }

  mutating func take(_ line: JournalLine, at offset: Int, _ reducer: Reducer<State, Action>)
    throws(JournalFailure)
  {
    if let number {
      let (next, isTooLarge) = number.addingReportingOverflow(line.kind.isCommit ? 1 : 0)
      if isTooLarge || line.number != next { throw .damaged(atByte: offset) }
    } else if !line.kind.hasState {
      throw .damaged(atByte: offset)
    }
    switch line.kind {
    case .action: _ = reducer(&state, try decode(line))
    case .snapshot where number != nil: break
    case .state, .start, .snapshot: state = try decode(line)
    }
    number = line.number
  }

  func stateOf(_ line: JournalLine) throws(JournalFailure) -> State { try decode(line) }

  private func decode<Value: Decodable>(_ line: JournalLine) throws(JournalFailure) -> Value {
    do {
      return try decoder.decode(Value.self, from: Data(line.payload))
    } catch {
      throw .unreadable(number: line.number, codingFailure(error))
    }
  }
}
