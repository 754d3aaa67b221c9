import CBench
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// The fastest and the median of many openings.
func timeToOpen(_ file: URL, keeping history: JournalHistory = .everything) -> String {
  let times = (1...41).map { _ in
    let start = cb_now()
    let journal = succeed { try Journal<Account, AccountAction>(file, keeping: history) }
    let time = cb_now() - start
    withExtendedLifetime(journal) {}
    return Double(time) / 1e6
  }.sorted()
  return String(format: "%.2f ms (median %.2f)", times[0], times[20])
}

/// Prints the time to open a journal of many segments of 200 kilobytes.
func showSegments(_ count: Int) {
  awaitTask {
    await withFolder { folder in
      let file = folder.appending(path: "journal")
      await record(count, in: file)
      print("opens in \(timeToOpen(file))")
    }
  }
}

private func record(_ segments: Int, in file: URL) async {
  let journal = succeed { try Journal<Account, AccountAction>(file, sync: .onFlush) }
  let store = Store(Account(), reducer: accountReducer)
  let token = journal.record(store)
  for _ in 0..<segments {
    for number in 0..<2_200 { store.send(accountAction(number)) }
    do { try await journal.compact() } catch { fatalError("\(error)") }
  }
  token.invalidate()
  guard let status = journal.status.current() else { return }
  print("\(status.segments) segments of \(status.segmentBytes) bytes", terminator: " ")
  fflush(nil)
}
