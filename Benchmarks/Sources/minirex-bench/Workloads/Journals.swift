import CBench
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

struct Account: Codable, Sendable {
  var amount = 0
  var lastPaid = ""
}

enum AccountAction: Codable, Sendable { case paid(String, Int) }

let accountReducer: Reducer<Account, AccountAction> = { state, action in
  switch action {
  case .paid(let name, let amount):
    state.amount &+= amount
    state.lastPaid = name
  }
  return .none
}

func accountAction(_ number: Int) -> AccountAction { .paid("number \(number % 100)", number) }

/// Runs `body` with a temporary file, and then unlinks it.
///
/// An open file stays usable.
private func withTemporaryFile<Value>(_ body: (URL) throws -> Value) -> Value {
  let url = FileManager.default.temporaryDirectory.appending(path: "minirex-bench-\(UUID())")
  defer { try? FileManager.default.removeItem(at: url) }
  return succeed { try body(url) }
}

/// Returns a journal with `count` actions.
func recorded(_ count: Int, snapshotEvery distance: Int) -> Journal<Account, AccountAction> {
  let (journal, store, recording) = recording(snapshotEvery: distance)
  for number in 0..<count { store.send(accountAction(number)) }
  recording.invalidate()
  return journal
}

func recording(snapshotEvery distance: Int) -> (
  Journal<Account, AccountAction>, Store<Account, AccountAction>, Subscription
) {
  let journal = withTemporaryFile {
    // A synchronization would find that the file has no name.
    try Journal<Account, AccountAction>($0, snapshotEvery: distance, sync: .onFlush)
  }
  let store = Store(Account(), reducer: accountReducer)
  return (journal, store, journal.record(store))
}

func succeed<Value>(_ body: () throws -> Value) -> Value {
  do { return try body() } catch { fatalError("\(error)") }
}

/// The baselines write and read the same bytes.
extension Suite {
  func journals() {
    bench("journal", "minirex") {
      let (journal, store, token) = recording(snapshotEvery: 0)
      let actions = (0..<1_000).map(accountAction)
      return { k in
        for i in 0..<k { store.send(actions[i % 1_000]) }
        withExtendedLifetime((journal, token)) {}
      }
    }
    bench("journal", "write") {
      let lines = journalLines()
      let descriptor = openedFile()
      return { k in
        for i in 0..<k {
          let line = lines[i % 1_000]
          if write(descriptor, line, line.count) != line.count { fatalError("Not written.") }
        }
      }
    }
    bench("journal", "JSONEncoder") {
      let lines = journalLines()
      let descriptor = openedFile()
      let actions = (0..<1_000).map(accountAction)
      let encoder = JSONEncoder()
      return { k in
        for i in 0..<k {
          let data = succeed { try encoder.encode(actions[i % 1_000]) }
          let line = lines[i % 1_000]
          if data.isEmpty || write(descriptor, line, line.count) != line.count {
            fatalError("Not written.")
          }
        }
      }
    }
    let count = 10_000
    bench("replay", "minirex", units: Double(count)) {
      let journal = recorded(count, snapshotEvery: 0)
      let acc = Acc()
      return { k in
        for _ in 0..<k {
          acc.add(succeed { try journal.replay(Account(), reducer: accountReducer) }.amount)
        }
      }
    }
    bench("replay", "JSONDecoder", units: Double(count)) {
      let encoder = JSONEncoder()
      let lines = succeed { try (0..<count).map { try encoder.encode(accountAction($0)) } }
      let decoder = JSONDecoder()
      let acc = Acc()
      return { k in
        for _ in 0..<k {
          var state = Account()
          for line in lines {
            let action = succeed { try decoder.decode(AccountAction.self, from: line) }
            _ = accountReducer(&state, action)
          }
          acc.add(state.amount)
        }
      }
    }
  }
}

private func openedFile() -> Int32 {
  withTemporaryFile { open($0.path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600) }
}

/// Returns a thousand lines of a journal, with their newlines.
private func journalLines() -> [[UInt8]] {
  let bytes = withTemporaryFile { file in
    let journal = try Journal<Account, AccountAction>(file, snapshotEvery: 0)
    let store = Store(Account(), reducer: accountReducer)
    let token = journal.record(store)
    for number in 0..<1_000 { store.send(accountAction(number)) }
    token.invalidate()
    return try Data(contentsOf: file)
  }
  let newline = UInt8(ascii: "\n")
  return bytes.split(separator: newline).suffix(1_000).map { $0 + [newline] }
}
