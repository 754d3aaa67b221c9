import Foundation
import MiniRex
import Synchronization

/// Runs `body` on so many threads at once, and returns when it has returned on all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let start = StartLine(count)
  let finished = (0..<count).map { _ in Parking() }
  for index in 0..<count {
    Thread.detachNewThread {
      start.wait()
      body(index)
      finished[index].open()
    }
  }
  for parking in finished { parking.wait() }
}

func yieldThread() {
  sched_yield()
}

/// Lets threads start at about the same time.
private final class StartLine: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    missing.subtract(1, ordering: .relaxed)
    while missing.load(ordering: .relaxed) > 0 { yieldThread() }
  }
}
