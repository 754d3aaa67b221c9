import Foundation
import Synchronization

/// Runs `body` with the halves of `n` on two threads that start together.
func twoThreads(_ n: Int, _ body: @escaping (Int) -> Void) {
  onThreads(2, n, body)
}

/// Runs `body` with a share of `n` on each of `count` threads that start together.
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

/// Runs `emit` on this thread, and `churnOnce` repeatedly on another thread until `emit` returns.
///
/// - Returns: The number of calls of `churnOnce` per second.
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
  emit(n)
  Stopwatch.shared.stop()
  isOver.flag.store(true, ordering: .relaxed)
  thread.join()
  return Double(pairs.p.pointee) / (Stopwatch.shared.nanoseconds / 1e9)
}

private final class Over: Sendable {
  let flag = Atomic(false)
}

/// Holds threads until all of them have started.
///
/// Their time starts there, so the duration of the start does not count.
private final class StartLine: Sendable {
  private let missing: Atomic<Int>
  private let isOpen = Atomic(false)

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    if missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      Stopwatch.shared.start()
      isOpen.store(true, ordering: .releasing)
    }
    while !isOpen.load(ordering: .acquiring) { sched_yield() }
  }
}

final class JoinedThread {
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping () -> Void) {
    // The starting thread waits for the new thread, so `body` need not be Sendable.
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

/// Runs `body` on the cooperative pool, and waits for it.
func blocking(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
