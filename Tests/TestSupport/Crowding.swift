import Foundation
import MiniRexTesting
import Synchronization

/// Returns the number of threads that want to run for each core, or 1 if there are fewer, and makes all limits grow with
/// it.
///
/// A thread that mostly sleeps wakes on time even on a busy machine, so a number of polls takes no longer there, while
/// the thread that it waits for takes as many times longer.
@discardableResult
func measureCrowding() -> Int {
  var load = 0.0
  unsafe getloadavg(&load, 1)
  let cores = ProcessInfo.processInfo.activeProcessorCount
  let crowding = max(1, Int(max(load, runnableThreads())) / cores)
  limitFactor.store(crowding, ordering: .relaxed)
  return crowding
}

/// Returns the present number, which an average shows only after a minute, or 0 on a system that does not tell it.
private func runnableThreads() -> Double {
  let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
  let words = text?.split(separator: " ") ?? []
  return words.count > 3 ? words[3].split(separator: "/").first.flatMap { Double($0) } ?? 0 : 0
}
