import CBench
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// Commits as many actions as `--units`, and prints the times as `Benchmarks/Journals/commits.c` does.
func commit(_ options: Options) -> Bool {
  let kinds = ["minirex", "minirex-every-commit", "minirex-durable"]
  guard let kind = options.commits, kinds.contains(kind) else {
    complain("'--commits' needs one of \(kinds.joined(separator: ", ")).")
    return false
  }
  let policies: [String: JournalSyncPolicy] = [
    "minirex-every-commit": .everyCommit, "minirex-durable": .onFlush,
  ]
  awaitTask {
    await withFolder { folder in
      let file = folder.appending(path: "journal")
      let journal = succeed {
        try Journal<Account, AccountAction>(file, sync: policies[kind] ?? .every(.seconds(1)))
      }
      let store = Store(Account(), reducer: accountReducer)
      let token = journal.record(store)
      let start = cb_now()
      var times = await withTaskGroup(of: [UInt64].self) { group in
        for writer in 0..<options.writers {
          let count = (options.units + options.writers - 1 - writer) / options.writers
          group.addTask {
            await commit(count, to: store, kind == "minirex-durable" ? journal : nil)
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      let seconds = Double(cb_now() - start) / 1e9
      if journal.lastNumber != options.units { fatalError("The recording has failed.") }
      times.sort()
      print(
        """
        {"seconds": \(seconds), "commits": \(times.count), "median": \(times[times.count / 2]), \
        "p99": \(times[times.count - 1 - times.count / 100]), \
        "longest": \(times[times.count - 1]), \
        "syncs": \(journal.syncCount), "bytes": \(succeed { try length(of: file) } / times.count)}
        """)
      withExtendedLifetime(token) {}
    }
  }
  return true
}

/// - Returns: The nanoseconds of each commit.
private func commit(
  _ count: Int, to store: Store<Account, AccountAction>, _ journal: Journal<Account, AccountAction>?
) async -> [UInt64] {
  var times: [UInt64] = []
  times.reserveCapacity(count)
  for number in 0..<count {
    let start = cb_now()
    if let journal {
      do {
        try await store.send(accountAction(number), in: journal)
      } catch {
        fatalError("\(error)")
      }
    } else {
      store.send(accountAction(number))
    }
    times.append(cb_now() - start)
  }
  return times
}

/// Keeps its files in the working directory, because the temporary directory can be in memory.
func withFolder<Value>(_ body: (URL) async throws -> Value) async rethrows -> Value {
  let url = makeFolder()
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url)
}

func withNewFolder<Value>(_ body: (URL) throws -> Value) rethrows -> Value {
  let url = makeFolder()
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url)
}

private func makeFolder() -> URL {
  let url = URL(filePath: FileManager.default.currentDirectoryPath)
    .appending(path: "minirex-bench-\(UUID())")
  succeed { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
  return url
}

/// Blocks the main thread until the task has finished.
func awaitTask(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}

func length(of file: URL) throws -> Int {
  try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
}
