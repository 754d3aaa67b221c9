import MiniRex
import MiniRexJournal
import MiniRexStore

/// The state that the tests of the journal record.
struct Ledger: Codable, Equatable, Sendable {
  var accounts: [String: Int] = [:]
  var notes: [String] = []
  var share: Double = 1
  var count = 0
  /// The last number of each thread.
  var last: [Int] = []
  /// The number of gaps in the numbers of all threads.
  var gaps = 0
}

enum LedgerAction: Codable, Equatable, Sendable {
  case pay(String, Int)
  case note(String)
  case halve
  /// Returns the next smaller `down` as an action, until 0.
  case down(Int)
  /// The index of a thread, and the number of its sends.
  case thread(Int, Int)
}

let keeping: Reducer<Ledger, LedgerAction> = { state, action in
  state.count += 1
  switch action {
  case .pay(let name, let amount): state.accounts[name, default: 0] += amount
  case .note(let text):
    state.notes.append(text)
    if state.notes.count > 5 { state.notes.removeFirst() }
  case .halve: state.share = state.share < 1e-300 ? 1 : state.share / 3
  case .down(let steps): if steps > 0 { return .send(.down(steps - 1)) }
  case .thread(let thread, let number):
    while state.last.count <= thread { state.last.append(0) }
    if state.last[thread] + 1 != number { state.gaps += 1 }
    state.last[thread] = number
  }
  return .none
}

/// Returns the action that every run of the program sends with this number.
func action(_ number: Int) -> LedgerAction {
  switch number % 7 {
  case 0: .note("note \(number): \"ä/\\\u{1}\n🦖")
  case 1: .halve
  default: .pay("account \(number &* 2_654_435_761 % 10)", number % 1_000 - 500)
  }
}

extension Journal {
  /// The failure that ended the recording.
  var problem: JournalFailure? { failure.current() ?? nil }
}
