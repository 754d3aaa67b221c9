import CBench
import Foundation
import MiniRexJournal

/// Prints the fastest of a few replays, by the number of actions in the file.
func showReplays() -> Bool {
  print("ms to replay".padded(to: 16) + "snapshots        all       half".aligned(to: 32))
  for count in [1_000, 10_000, 100_000, 1_000_000] {
    for distance in [0, 1_000] {
      let journal = recorded(count, snapshotEvery: distance)
      let times = [count, count / 2].map { number in
        let times = (0..<3).map { _ in
          let start = cb_now()
          let state = succeed {
            try journal.replay(Account(), upTo: number, reducer: accountReducer)
          }
          if state.amount != number * (number - 1) / 2 { fatalError("The replayed state differs.") }
          return Double(cb_now() - start) / 1e6
        }
        return milliseconds(times.min() ?? 0)
      }
      let snapshots = distance == 0 ? "none" : "every \(distance)"
      print(
        "\(count)".padded(to: 16) + snapshots.padded(to: 12)
          + times.map { $0.aligned(to: 11) }.joined())
      fflush(nil)
    }
  }
  return true
}

private func milliseconds(_ time: Double) -> String { String(format: "%.2f", time) }
