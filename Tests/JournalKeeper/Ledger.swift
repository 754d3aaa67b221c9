import MiniRex
import MiniRexJournal
import MiniRexStore

/// What the tests of a journal record.
struct Ledger: Codable, Equatable, Sendable {
  var accounts: [String: Int] = [:]
  var notes: [String] = []
  var share: Double = 1
  var count = 0
  /// For each thread, the last that it has sent.
  var last: [Int] = []
  /// How often a thread's numbers were not one after the other.
  var gaps = 0
}

enum LedgerAction: Codable, Equatable, Sendable {
  case pay(String, Int)
  case note(String)
  case halve
  /// Is followed by smaller ones, each of which is an action.
  case down(Int)
  /// The number of a thread, and how many it has sent.
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

/// What is sent as the action of this number, in each run of the program.
func action(_ number: Int) -> LedgerAction {
  switch number % 7 {
  case 0: .note("note \(number): \"ä/\\\u{1}\n🦖")
  case 1: .halve
  default: .pay("account \(number &* 2_654_435_761 % 10)", number % 1_000 - 500)
  }
}

extension Journal {
  /// Why nothing is recorded any more.
  var problem: JournalFailure? { failure.current() ?? nil }
}
