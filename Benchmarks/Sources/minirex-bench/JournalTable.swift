import CBench
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// Prints durable commits by the number of writers, and the size, the time to open, and the stalls of journals.
func showJournals(_ options: Options) -> Bool {
  let parts: [String: () -> Void] = [
    "durable": { awaitTask { await showDurable(for: .seconds(options.isBrief ? 1 : 3)) } },
    "size": { showSizes(options.isBrief ? [1_000, 100_000] : [1_000, 100_000, 10_000_000]) },
    "segments": { showSegments(options.isBrief ? 50 : 5_000) },
    "stall": { showStalls(options.isBrief ? 100_000 : 400_000) },
  ]
  guard let name = options.part else {
    for name in ["durable", "size", "segments", "stall"] { parts[name]?() }
    return true
  }
  guard let part = parts[name] else {
    complain("'--part' needs one of \(parts.keys.sorted().joined(separator: ", ")).")
    return false
  }
  part()
  return true
}

private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

/// Each client sends, and awaits its commit on the disk.
private func showDurable(for duration: Duration) async {
  for writers in [1, 8, 64, 1_000] {
    for _ in 1...2 {
      await withFolder { folder in
        let journal = succeed {
          try Journal<Account, AccountAction>(folder.appending(path: "journal"), sync: .onFlush)
        }
        let store = Store(Account(), reducer: accountReducer)
        let token = journal.record(store)
        let start = ContinuousClock.now
        let limit = start + duration
        await withTaskGroup { group in
          for writer in 0..<writers {
            group.addTask {
              while ContinuousClock.now < limit {
                _ = try? await store.send(accountAction(writer), in: journal)
              }
            }
          }
        }
        let time = seconds(ContinuousClock.now - start)
        let (commits, syncs) = (journal.lastNumber, journal.syncCount)
        print(
          "\(writers) writers: \(Int(Double(commits) / time)) durable commits a second, "
            + "\(Int(Double(syncs) / time)) synchronizations, "
            + String(format: "%.1f commits each", Double(commits) / Double(syncs)))
        withExtendedLifetime(token) {}
      }
      if writers == 1 { showBareSync(for: duration) }
    }
  }
}

/// The time of one `write` with `fdatasync`, beside it.
private func showBareSync(for duration: Duration) {
  withNewFolder { folder in
    let path = folder.appending(path: "file").path
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    let line = [UInt8](repeating: 120, count: 90)
    let start = ContinuousClock.now
    var count = 0
    while ContinuousClock.now - start < duration {
      if write(file, line, line.count) != line.count { fatalError("Not written.") }
      #if canImport(Darwin)
      fsync(file)
      #else
      fdatasync(file)
      #endif
      count += 1
    }
    print(
      "write with fdatasync: \(Int(Double(count) / seconds(ContinuousClock.now - start))) a second")
    close(file)
  }
}

/// The largest size of the file and its segments while actions are recorded, and the time to open them.
private func showSizes(_ counts: [Int]) {
  let policies: [(String, JournalHistory)] = [
    ("latestState", .latestState), ("last(commits: 100000)", .last(commits: 100_000)),
    ("everything", .everything),
  ]
  for count in counts {
    for (name, history) in policies {
      withNewFolder { folder in
        let file = folder.appending(path: "journal")
        let start = ContinuousClock.now
        let most = record(count, in: file, keeping: history)
        let time = seconds(ContinuousClock.now - start)
        guard let status = status(of: file, keeping: history) else { return }
        print(
          "\(count) actions, \(name): \(String(format: "%.1f", time)) s, at most \(most.file) bytes "
            + "(\(most.all) with segments), at the end \(status.fileBytes) and \(status.segments) "
            + "segments of \(status.segmentBytes), opens in \(timeToOpen(file, keeping: history))")
        fflush(nil)
      }
    }
  }
}

private func record(_ count: Int, in file: URL, keeping history: JournalHistory) -> (
  file: Int, all: Int
) {
  succeed {
    let journal = try Journal<Account, AccountAction>(file, keeping: history, sync: .onFlush)
    let store = Store(Account(), reducer: accountReducer)
    let token = journal.record(store)
    var most = (file: 0, all: 0)
    for number in 0..<count {
      store.send(accountAction(number))
      if number % 100 == 0 {
        let size = try length(of: file)
        most.file = max(most.file, size)
        if number % 100_000 == 0 {
          most.all = max(most.all, size + (journal.status.current()?.segmentBytes ?? 0))
        }
      }
    }
    token.invalidate()
    return most
  }
}

/// The journal is released on return, so that it can be opened again.
private func status(of file: URL, keeping history: JournalHistory) -> JournalStatus? {
  succeed { try Journal<Account, AccountAction>(file, keeping: history) }.status.current()
}
