#if os(Linux)
import Foundation

/// Runs threads one at a time, and chooses the next thread at each point that they reach.
///
/// A thread that waits for another one inside the library is asleep without being at a point. It then counts as
/// blocked, and the next thread is chosen among the others.
package final class ThreadStepper: @unchecked Sendable {
  private enum Phase {
    case atPoint, running, finished
  }

  private let condition = NSCondition()
  private var phases: [Phase]
  private var indices: [pthread_t: Int] = [:]
  /// The folders of the threads in `/proc`.
  private var folders: [String]

  package init(threads: Int) {
    phases = Array(repeating: .running, count: threads)
    folders = Array(repeating: "", count: threads)
  }

  /// Runs the body on each thread.
  ///
  /// - Parameter choose: Gets the threads that can run, the one that ran last first, and returns the next.
  /// - Returns: `false` if the threads wait for each other.
  package func run(
    _ body: @escaping @Sendable (_ index: Int) -> Void, choose: ([Int]) -> Int
  ) -> Bool {
    for index in phases.indices {
      Thread {
        self.begin(index)
        body(index)
        self.change(index, to: .finished)
      }.start()
    }
    condition.lock()
    defer { condition.unlock() }
    var last = 0
    while true {
      guard isQuiet() else { return false }
      let ready = phases.indices.filter { phases[$0] == .atPoint }
      if ready.isEmpty { return true }
      last = choose(ready.contains(last) ? [last] + ready.filter { $0 != last } : ready)
      phases[last] = .running
      condition.broadcast()
    }
  }

  /// Waits until the calling thread is chosen, if it is one of the threads.
  package func point() {
    condition.lock()
    defer { condition.unlock() }
    guard let index = indices[pthread_self()] else { return }
    wait(index)
  }

  private func begin(_ index: Int) {
    condition.lock()
    defer { condition.unlock() }
    indices[pthread_self()] = index
    folders[index] =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    wait(index)
  }

  private func wait(_ index: Int) {
    phases[index] = .atPoint
    condition.broadcast()
    while phases[index] == .atPoint { condition.wait() }
  }

  private func change(_ index: Int, to phase: Phase) {
    condition.lock()
    phases[index] = phase
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until each running thread is blocked, and another one can run or all have finished.
  private func isQuiet() -> Bool {
    var looks = 0
    var deadline = Date(timeIntervalSinceNow: 60)
    while phases.contains(.running) {
      if condition.wait(until: Date(timeIntervalSinceNow: 0.001)) {
        (looks, deadline) = (0, Date(timeIntervalSinceNow: 60))
        continue
      }
      let running = phases.indices.filter { phases[$0] == .running }
      looks = running.allSatisfy { isAsleep($0) } ? looks + 1 : 0
      if looks >= 3, phases.contains(.atPoint) { return true }
      if Date() > deadline { return false }
    }
    return true
  }

  private func isAsleep(_ index: Int) -> Bool {
    let text = try? String(contentsOfFile: "/proc/\(folders[index])/stat", encoding: .utf8)
    return text?.split(separator: ")").last?.hasPrefix(" S") == true
  }
}
#endif
