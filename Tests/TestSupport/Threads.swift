import Foundation
import Synchronization
public import Testing

/// The factor for the rounds of a storm: 1 by default, less with sanitizers, more in a soak.
public let scale =
  ProcessInfo.processInfo.environment["MINIREX_SCALE"].flatMap(Double.init) ?? 1

/// A number of nested calls that overflows a stack of 512 KiB, which has 52 bytes for each.
///
/// Optimized programs take more, because they are fast and their frames are small.
#if DEBUG
package let overflowingDepth = 10_000
#else
package let overflowingDepth = 100_000
#endif

/// Returns the scaled number of rounds, at least 1.
public func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

/// Returns the number of steps of a chain: `MINIREX_STEPS`, with which `Scripts/soak` takes a million, or the count.
///
/// Not scaled, because fewer would fit on the stack.
public func chainSteps(_ count: Int) -> Int { allSteps ?? count }

let allSteps = ProcessInfo.processInfo.environment["MINIREX_STEPS"].flatMap(Int.init)

/// Runs the body concurrently on new threads, and returns when all have finished.
public func onThreads(
  _ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (_ index: Int) -> Void
) {
  let done = DispatchGroup()
  let start = Gate()
  // Release the body here, because a thread may retain it after it signals its end.
  let body = Shared<(@Sendable (Int) -> Void)?>(body)
  for index in 0..<count {
    done.enter()
    let thread = Thread {
      start.wait()
      body.value?(index)
      done.leave()
    }
    if let stackSize { thread.stackSize = stackSize }
    thread.start()
  }
  start.open()
  done.wait()
  body.value = nil
}

/// Runs the body on a new thread, and returns when it has finished.
public func onThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
  onThreads(1, stackSize: stackSize) { _ in body() }
}

/// A barrier that blocks threads until it is opened.
public final class Gate: Sendable {
  private let group = DispatchGroup()
  private let isOpen = Atomic(false)

  /// Creates a closed barrier.
  public init() { group.enter() }

  // A group with a member retains itself.
  deinit { open() }

  /// Releases all blocked threads, and every later one.
  public func open() {
    if !isOpen.exchange(true, ordering: .relaxed) { group.leave() }
  }

  /// Blocks the thread until the barrier is open, or until an issue.
  public func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    block(sourceLocation, group.wait)
  }
}

/// Kills the process after 100 seconds, or later on a busy machine and for more steps, so that a hang fails the exit test.
public func mustEnd() {
  alarm(UInt32((allSteps == nil ? 100 : 500) * measureCrowding()))
}
