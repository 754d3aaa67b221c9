import CBench
import Foundation
import Synchronization

/// Runs `body` with the halves of `n` on two threads, which begin together.
func twoThreads(_ n: Int, _ body: @escaping (Int) -> Void) {
  onThreads(2, n, body)
}

/// Runs `body` with its part of `n` on each of so many threads, which begin together.
func onThreads(_ count: Int, _ n: Int, _ body: @escaping (Int) -> Void) {
  let start = StartLine(count)
  let threads = (1..<count).map { _ in
    JoinedThread {
      start.wait()
      body(n / count)
    }
  }
  start.wait()
  body(n - n / count * (count - 1))
  for thread in threads { thread.join() }
}

/// Runs `emit` on this thread, and `churnOnce` on another for as long.
///
/// - Returns: How often `churnOnce` was called in a second.
func emitWhileChurn(
  _ n: Int, emit: (Int) -> Void, churnOnce: @escaping () -> Void
) -> Double {
  let isOver = Over()
  let pairs = Cell(0)
  let start = StartLine(2)
  let thread = JoinedThread {
    start.wait()
    while !isOver.flag.load(ordering: .relaxed) {
      for _ in 0..<8 { churnOnce() }
      pairs.p.pointee += 8
    }
  }
  start.wait()
  let began = cb_now()
  emit(n)
  let ended = cb_now()
  isOver.flag.store(true, ordering: .relaxed)
  thread.join()
  return Double(pairs.p.pointee) / (Double(ended - began) / 1e9)
}

private final class Over: Sendable {
  let flag = Atomic(false)
}

/// Holds back threads until all have come.
private final class StartLine: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    missing.subtract(1, ordering: .acquiringAndReleasing)
    while missing.load(ordering: .acquiring) > 0 { sched_yield() }
  }
}

private final class JoinedThread {
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping () -> Void) {
    // The one who starts it waits for it, so `body` needs not be Sendable.
    nonisolated(unsafe) let body = body
    let done = done
    Thread.detachNewThread {
      body()
      done.signal()
    }
  }

  func join() {
    done.wait()
  }
}

/// Runs `body` on the pool of Swift's tasks, and waits for it.
func blocking(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
