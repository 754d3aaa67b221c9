import CBench
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// A state of about 4 megabytes of JSON.
private struct Warehouse: Codable, Sendable {
  var names = (0..<100_000).map { "the item with the number \($0)" }
  var amount = 0
}

private let reducer: Reducer<Warehouse, AccountAction> = { state, action in
  if case .paid(_, let amount) = action { state.amount &+= amount }
  return .none
}

/// Prints the times of a send while the journal compacts, and without compactions.
func showStalls(_ count: Int) {
  for _ in 1...3 {
    for (name, history) in [
      ("without compactions", JournalHistory.everything), ("compacting", .latestState),
    ] {
      withNewFolder { folder in
        let file = folder.appending(path: "journal")
        let journal = succeed {
          try Journal<Warehouse, AccountAction>(
            file, keeping: history, snapshotEvery: 0, sync: .onFlush)
        }
        let store = Store(Warehouse(), reducer: reducer)
        let token = journal.record(store)
        var times = (0..<count).map { number in
          let start = cb_now()
          store.send(accountAction(number))
          return cb_now() - start
        }
        times.sort()
        let shown = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)].map {
          "\($0) \(String(format: "%.1f", Double(times[Int(Double(count - 1) * $1)]) / 1e3))"
        }
        let longest = Double(times[count - 1]) / 1e6
        print(
          "\(name): \(shown.joined(separator: ", ")) µs, the longest \(String(format: "%.1f", longest)) ms, "
            + "\(journal.lastNumber) commits, \(compactions(of: file)) compactions")
        fflush(nil)
        withExtendedLifetime(token) {}
      }
    }
  }
}

/// The first line of a file has its sequence number.
private func compactions(of file: URL) -> Int {
  succeed {
    let line = try FileHandle(forReadingFrom: file).read(upToCount: 100) ?? Data()
    let words = String(decoding: line, as: UTF8.self).split(separator: ",")
    let segment = words.first { $0.hasPrefix("\"segment\":") }
    return (segment?.split(separator: ":").last.flatMap { Int($0) } ?? 1) - 1
  }
}
